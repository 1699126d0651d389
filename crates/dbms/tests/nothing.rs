//! Directories and devices without a DBMS.

use std::fs::{self, File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use dbms::{Cache, Endpoint, Reference, ServerUser};

use crate::common::{Place, processes_in, variant};

#[test]
fn a_directory_is_made_and_removed() {
    let place = Place::new();
    let own = place.path().join("own");
    fs::create_dir(&own).unwrap();
    for (name, root) in [("none".to_owned(), place.trial()), {
        (format!("none@path:{}", own.display()), own.join("steelyard-trial"))
    }] {
        let none = variant(&name).unwrap();
        let mut system = place.start(&none, &[("compression", "lz4")]).unwrap();
        let data = system.data_directory().unwrap();
        assert_eq!(data, root.join("data"));
        assert_eq!(fs::metadata(&data).unwrap().uid(), ServerUser::choose(None).unwrap().uid);
        let places = system.endpoint().places();
        assert_eq!(places["compression"], "lz4", "a setting is a word for commands");
        assert!(!places.contains_key("device"));
        assert!(system.alive() && processes_in(&data) == [system.root_pid().unwrap()]);
        assert!(system.settings().unwrap().iter().any(|it| it.name == "compression"));
        system.stop().unwrap().discard().unwrap();
        assert!(!root.exists());
    }
    fs::remove_dir(own).unwrap();
    place.assert_clean();
}

#[test]
fn what_is_neither_is_refused() {
    let obtain = |text: &str| {
        let reference: Reference = text.parse().unwrap();
        let error = dbms::obtain(&reference, &Cache::open_default().unwrap(), &|_| ());
        error.unwrap_err().to_string()
    };
    assert!(obtain("none@path:/etc/hostname").contains("/etc/hostname: it is not a directory"));
    let missing = "cannot use /no/such/place: there is no such directory; create it";
    assert_eq!(obtain("none@path:/no/such/place"), missing);
    assert!(obtain("device@path:/etc").contains("not a block device"));
    assert!(obtain("device@path:/dev/null").contains("not a block device"));
    assert!("none".parse::<Reference>().unwrap().to_string() == "none");
}

/// A device on a file, gone when dropped.
struct Loop(PathBuf);

impl Loop {
    fn on(file: &Path) -> Option<Loop> {
        File::create(file).unwrap().set_len(1 << 20).unwrap();
        let made = Command::new("losetup").args(["--find", "--show"]).arg(file).output().ok()?;
        let name = String::from_utf8(made.stdout).unwrap();
        made.status.success().then(|| Loop(name.trim().into()))
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("--detach").arg(&self.0).status();
    }
}

#[test]
fn a_device_can_be_read_and_never_written() {
    let place = Place::new();
    let file = place.path().join("disk");
    let Some(device) = Loop::on(&file) else {
        fs::remove_file(file).unwrap();
        return testing::skip("loop devices need root and losetup");
    };
    let of = variant(&format!("device@path:{}", device.0.display())).unwrap();
    let mut system = place.start(&of, &[]).unwrap();
    let Endpoint::Nowhere { device: Some(node), .. } = system.endpoint() else { panic!("no node") };
    assert_eq!(system.data_directory(), Some(node.clone()));
    let user = ServerUser::choose(None).unwrap();
    let run = |script: &str| {
        let mut command = dbms::command("/bin/sh", &user, &[]).unwrap();
        command.args(["-c", script, "sh"]).arg(&node).output().unwrap().status.success()
    };
    assert!(run("head -c 512 \"$1\" > /dev/null"), "it can be read");
    assert!(!run("echo x > \"$1\""), "it can be written");
    assert!(!run("chmod u+w \"$1\""), "its mode can be changed");
    let mut byte = [1];
    OpenOptions::new().read(true).open(&node).unwrap().read_exact(&mut byte).unwrap();
    assert_eq!(byte, [0]);
    system.end().unwrap().discard().unwrap();
    drop(device);
    fs::remove_file(file).unwrap();
    place.assert_clean();
}
