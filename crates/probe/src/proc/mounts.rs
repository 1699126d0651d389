//! `/proc/self/mountinfo` (fields as in proc(5)).

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// One mount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mount {
    pub(crate) major: u32,
    pub(crate) minor: u32,
    /// The directory of the file system that is the root of this mount.
    pub(crate) root: PathBuf,
    pub(crate) point: PathBuf,
    /// Options of the mount, comma separated.
    pub(crate) options: String,
    pub(crate) fs_type: String,
    pub(crate) source: String,
    /// Options of the file system, comma separated.
    pub(crate) super_options: String,
}

/// All lines that can be read; later mounts hide earlier ones at the same point.
pub(crate) fn parse(text: &str) -> Vec<Mount> {
    text.lines().filter_map(parse_line).collect()
}

fn parse_line(line: &str) -> Option<Mount> {
    let (head, tail) = line.split_once(" - ")?;
    let mut head = head.split(' ').skip(2);
    let (major, minor) = head.next()?.split_once(':')?;
    let mut tail = tail.split(' ');
    Some(Mount {
        major: major.parse().ok()?,
        minor: minor.parse().ok()?,
        root: unescape(head.next()?),
        point: unescape(head.next()?),
        options: head.next()?.to_owned(),
        fs_type: tail.next()?.to_owned(),
        source: unescape(tail.next()?).to_string_lossy().into_owned(),
        super_options: tail.next().unwrap_or("").to_owned(),
    })
}

/// The mount that contains `path`, which must be absolute and without links.
pub(crate) fn mount_of<'a>(mounts: &'a [Mount], path: &Path) -> Option<&'a Mount> {
    mounts
        .iter()
        .filter(|mount| path.starts_with(&mount.point))
        .max_by_key(|mount| mount.point.components().count())
}

/// Blanks, tabs, newlines and backslashes are written as three octal digits.
fn unescape(text: &str) -> PathBuf {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first == b'\\'
            && let Some((digits, after)) = after.split_first_chunk::<3>()
            && let Some(byte) = octal(digits)
        {
            bytes.push(byte);
            rest = after;
        } else {
            bytes.push(*first);
        }
    }
    PathBuf::from(OsString::from_vec(bytes))
}

fn octal(digits: &[u8; 3]) -> Option<u8> {
    let mut value = 0u32;
    for digit in digits {
        if !(b'0'..=b'7').contains(digit) {
            return None;
        }
        value = value * 8 + u32::from(digit - b'0');
    }
    u8::try_from(value).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TEXT: &str = "\
22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime shared:1 master:2 - ext4 /dev/vda rw,discard
30 27 8:1 /data /mnt/with\\040blank rw,noatime - xfs /dev/sda1 rw,noquota
31 27 0:40 / /mnt/over rw - tmpfs tmpfs rw
32 27 8:2 / /mnt/over rw - ext4 /dev/sda2 rw
";

    #[test]
    fn reads_mounts() {
        let mounts = parse(TEXT);
        assert_eq!(mounts.len(), 5);
        assert_eq!((mounts[1].major, mounts[1].minor), (254, 0));
        assert_eq!((mounts[1].fs_type.as_str(), mounts[1].source.as_str()), ("ext4", "/dev/vda"));
        assert_eq!(mounts[2].point, Path::new("/mnt/with blank"));
        assert_eq!(mounts[2].root, Path::new("/data"));
    }

    #[test]
    fn finds_the_mount_of_a_path() {
        let mounts = parse(TEXT);
        let device = |path: &str| mount_of(&mounts, Path::new(path)).map(|m| (m.major, m.minor));
        assert_eq!(device("/home/x"), Some((254, 0)));
        assert_eq!(device("/mnt/with blank/db"), Some((8, 1)));
        assert_eq!(device("/mnt/with blanks"), Some((254, 0)));
        assert_eq!(device("/mnt/over/db"), Some((8, 2)), "the later mount hides the earlier");
    }

    proptest! {
        #[test]
        fn names_are_read_whatever_is_in_them(name in "[ a-z\\\\\t\n0-7é]{0,20}", text in "[ 0-9:/\\\\a-z\n-]{0,200}") {
            let mut escaped = String::new();
            for c in name.chars() {
                match c {
                    ' ' | '\t' | '\n' | '\\' => escaped += &format!("\\{:03o}", u32::from(c)),
                    other => escaped.push(other),
                }
            }
            prop_assert_eq!(unescape(&escaped), PathBuf::from(&name));
            let mounts = parse(&format!("36 35 98:7 / /{escaped} rw - ext4 /dev/x rw\n{text}"));
            prop_assert_eq!((mounts[0].major, mounts[0].minor), (98, 7));
            prop_assert_eq!(&mounts[0].point, &PathBuf::from(format!("/{name}")));
            prop_assert!(mounts.len() <= 1 + text.matches(" - ").count());
        }
    }
}
