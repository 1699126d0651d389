//! A server for a test: see world.sh.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use setup::{Request, Setup};

/// Loop devices on files, detached when dropped.
struct Disks(Vec<String>);

impl Drop for Disks {
    fn drop(&mut self) {
        for device in &self.0 {
            let _ = Command::new("losetup").args(["-d", device]).status();
        }
    }
}

impl Disks {
    /// `None` if this machine has no loop devices.
    fn new(directory: &Path, megabytes: &[u64]) -> Option<Disks> {
        let mut disks = Disks(Vec::new());
        for (number, size) in megabytes.iter().enumerate() {
            let file = directory.join(format!("disk{number}"));
            fs::File::create(&file).unwrap().set_len(size << 20).unwrap();
            let made = Command::new("losetup").args(["-f", "--show"]).arg(&file).output().ok()?;
            if !made.status.success() {
                return None;
            }
            disks.0.push(String::from_utf8(made.stdout).unwrap().trim().to_owned());
        }
        Some(disks)
    }
}

/// Runs a scenario on a server with empty disks of these sizes, or skips the test. The scenario
/// gets the devices' names.
pub fn on_a_server(megabytes: &[u64], scenario: fn(&[String])) {
    const ENDED: &str = "the scenario ended";
    if let Some(devices) = testing::given() {
        let devices = devices.to_str().unwrap();
        scenario(&devices.split(':').map(str::to_owned).collect::<Vec<_>>());
        println!("{ENDED}");
        return;
    }
    if fs::metadata("/proc/self").unwrap().uid() != 0 {
        return testing::skip("only root can mount");
    }
    for tool in ["mkfs.xfs", "mkfs.ext4", "losetup", "unshare", "wipefs"] {
        if !Path::new("/usr/sbin").join(tool).exists() && !Path::new("/usr/bin").join(tool).exists()
        {
            return testing::skip(format!("{tool} is not installed"));
        }
    }
    let directory = tempfile::tempdir_in("/var/tmp").unwrap();
    let work = directory.path().join("world");
    fs::create_dir(&work).unwrap();
    let Some(disks) = Disks::new(directory.path(), megabytes) else {
        return testing::skip("this machine has no loop devices");
    };
    let devices = disks.0.join(":");
    let world = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/setup/world.sh");
    let before = ["unshare", "--mount", "--", "bash", world, work.to_str().unwrap(), &devices];
    let ended = testing::again(&before, Path::new(&devices)).output().unwrap();
    let said = String::from_utf8_lossy(&ended.stdout);
    let errors = String::from_utf8_lossy(&ended.stderr);
    if ended.status.code() == Some(77) || errors.contains("unshare failed") {
        return testing::skip(format!("no server of its own here: {errors}"));
    }
    assert!(ended.status.success() && said.contains(ENDED), "{said}\n{errors}");
}

/// The script for a request, without packages, because those would really be installed.
pub fn script(request: Request) -> String {
    let text = Setup::new(request).unwrap().script();
    let (before, after) = text.split_once("\nPACKAGES='").unwrap();
    let (_, after) = after.split_once("'\n").unwrap();
    format!("{before}\nPACKAGES='coreutils'\n{after}")
}

/// The output of a script, and its exit code.
pub struct Ran {
    pub code: Option<i32>,
    pub text: String,
    pub errors: String,
}

impl Ran {
    /// The state and the sentence of an item.
    pub fn item(&self, name: &str) -> (&str, &str) {
        for line in self.text.lines() {
            let mut words = line.splitn(2, ' ');
            let (state, rest) = (words.next().unwrap(), words.next().unwrap_or("").trim_start());
            if let Some(said) = rest.strip_prefix(name).filter(|said| said.starts_with(' ')) {
                return (state, said.trim_start());
            }
        }
        panic!("no {name} in {}\n{}", self.text, self.errors);
    }

    /// The states of all items.
    pub fn states(&self) -> Vec<&str> {
        self.text.lines().map(|line| line.split(' ').next().unwrap()).collect()
    }
}

/// Runs a script with bash.
pub fn run(script: &str) -> Ran {
    let file = PathBuf::from("/tmp/setup.sh");
    fs::write(&file, script).unwrap();
    let ended = Command::new("bash").arg(&file).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Ran { code: ended.status.code(), text: text(ended.stdout), errors: text(ended.stderr) }
}

/// Runs words of a shell, which must succeed. Returns what it printed.
pub fn shell(command: &str) -> String {
    let ended = Command::new("bash").args(["-euo", "pipefail", "-c", command]).output().unwrap();
    assert!(ended.status.success(), "{command}: {}", String::from_utf8_lossy(&ended.stderr));
    String::from_utf8(ended.stdout).unwrap()
}

/// Everything that was written to the server's files: inode, modification time, mode and content.
pub fn written() -> BTreeMap<String, (u64, i64, i64, u32, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut left = vec![PathBuf::from("/run/written")];
    while let Some(directory) = left.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let about = fs::symlink_metadata(&path).unwrap();
            let content = match about.file_type() {
                kind if kind.is_dir() => {
                    left.push(path.clone());
                    continue;
                }
                kind if kind.is_symlink() => {
                    fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()
                }
                _ => fs::read(&path).unwrap_or_default(),
            };
            let name = path.strip_prefix("/run/written").unwrap().display().to_string();
            found.insert(
                name,
                (about.ino(), about.mtime(), about.mtime_nsec(), about.mode(), content),
            );
        }
    }
    found
}
