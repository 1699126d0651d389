//! Directories of the cache as files, for other machines.

use std::fs::{self, File};
use std::io::{BufReader, BufWriter, Seek, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use flate2::bufread::GzDecoder;
use flate2::{Compression, GzBuilder};
use tar::{EntryType, Header};

use crate::data::paths;
use crate::obtain::installed::DESCRIPTION;
use crate::obtain::unpack::{self, Modes};
use crate::process::identity;
use crate::{Error, Installation, ServerUser};

/// Packs `directory` into the new file `to`: a tar archive compressed with gzip. The same directory
/// gives the same bytes; if it has a description, `described` is written in place of that.
pub(super) fn pack(directory: &Path, described: &Installation, to: &Path) -> Result<(), Error> {
    let wrap = || Error::io("write", to);
    let file = File::create_new(to).map_err(wrap())?;
    let compressed =
        GzBuilder::new().operating_system(3).write(BufWriter::new(file), Compression::default());
    let mut tar = tar::Builder::new(compressed);
    paths::walk(directory, &mut |path, metadata| {
        let Ok(name) = path.strip_prefix(directory) else { return Ok(()) };
        if name.as_os_str().is_empty() {
            return Ok(());
        }
        let mut header = Header::new_gnu();
        header.set_mtime(0);
        let executable = metadata.is_dir() || metadata.is_symlink();
        let executable = executable || metadata.permissions().mode() & 0o111 != 0;
        header.set_mode(paths::open_mode(executable));
        header.set_size(0);
        if metadata.is_symlink() {
            header.set_entry_type(EntryType::Symlink);
            let target = fs::read_link(path).map_err(Error::io("read", path))?;
            return tar.append_link(&mut header, name, target).map_err(wrap());
        }
        if metadata.is_dir() {
            header.set_entry_type(EntryType::Directory);
            return tar.append_data(&mut header, name, std::io::empty()).map_err(wrap());
        }
        header.set_entry_type(EntryType::Regular);
        if name == Path::new(DESCRIPTION) {
            let text = serde_json::to_vec_pretty(described)
                .map_err(|error| Error::answer("a description that can be written", error))?;
            header.set_size(text.len() as u64);
            return tar.append_data(&mut header, name, text.as_slice()).map_err(wrap());
        }
        header.set_size(metadata.len());
        let content = File::open(path).map_err(Error::io("read", path))?;
        tar.append_data(&mut header, name, content).map_err(wrap())
    })?;
    let finish = || {
        let mut buffered = tar.into_inner()?.finish()?;
        buffered.flush()?;
        buffered.get_ref().sync_all()
    };
    finish().map_err(wrap())
}

/// Unpacks the file `packed` as `user` in `workshop`; the directory that it becomes. `object` names
/// it in errors.
pub(super) fn unpack(
    packed: &Path,
    workshop: &Path,
    user: &ServerUser,
    object: &str,
) -> Result<PathBuf, Error> {
    let (unpacked, made) = (workshop.join("unpacked"), workshop.join("made"));
    paths::make_private(&unpacked, user)?;
    let mut archive = File::open(packed).map_err(Error::io("open", packed))?;
    identity::as_user(user, || {
        unpack::check(GzDecoder::new(BufReader::new(&archive)), object)?;
        archive.rewind().map_err(Error::io("read", packed))?;
        unpack::unpack(GzDecoder::new(BufReader::new(&archive)), &unpacked, Modes::Open, object)
    })?;
    identity::take_over(user, &unpacked, &made, Modes::Open)?;
    Ok(made)
}
