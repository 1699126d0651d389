//! Failures: each has a clear error and leaves nothing behind.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use super::subjects::{first, subjects};
use crate::common::{Place, wait_for};
use dbms::{Cache, Diagnosis, Error, ServerSpec, ServerUser};

#[test]
fn a_setting_that_it_rejects_is_named_with_its_value() {
    for subject in subjects() {
        let place = Place::new();
        let (setting, value) = subject.facts.rejected;
        let error = subject.refusal(&place, setting, value);
        assert!(matches!(error, Error::Rejected { .. }) && error.is_request(), "{error}");
        for part in [&subject.variant.name, &format!("{setting} = {value}")] {
            assert!(error.to_string().contains(part), "{part} is missing in: {error}");
        }
        place.assert_clean();
    }
}

#[test]
fn settings_that_steelyard_chooses_are_refused() {
    for subject in first() {
        let place = Place::new();
        let error = subject.refusal(&place, subject.facts.reserved, "1");
        assert!(matches!(error, Error::Reserved { .. }), "{error}");
        assert!(error.to_string().contains(subject.facts.reserved), "{error}");
        place.assert_clean();
    }
}

#[test]
fn a_directory_in_use_is_left_as_it_is() {
    for subject in first() {
        let place = Place::new();
        fs::create_dir(place.trial()).unwrap();
        let precious = place.trial().join("precious");
        fs::write(&precious, "x").unwrap();
        let error = dbms::start(subject.spec(&place, &place.trial())).err().unwrap();
        assert!(matches!(error, Error::DirectoryInUse { .. }), "{error}");
        assert_eq!(fs::read_to_string(&precious).unwrap(), "x");
        assert!(place.ledger.records().unwrap().is_empty());
    }
}

#[test]
fn a_directory_the_servers_user_cannot_enter_is_named() {
    if ServerUser::choose(None).unwrap().uid == nix::unistd::geteuid().as_raw() {
        return testing::skip("not root, so servers run as the calling user");
    }
    for subject in first() {
        let place = Place::new();
        let closed = place.path().join("closed");
        fs::create_dir(&closed).unwrap();
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).unwrap();
        let barred = |spec: ServerSpec<'_>| match dbms::start(spec).err().unwrap() {
            Error::Unreachable { barred_by, .. } => assert_eq!(barred_by, closed),
            other => panic!("expected Unreachable, found {other}"),
        };
        barred(subject.spec(&place, &closed.join("trial")));
        if subject.facts.prepares {
            let cache = Cache::at(closed.join("cache")).unwrap();
            barred(ServerSpec { cache: &cache, ..subject.spec(&place, &place.trial()) });
        }
        fs::remove_dir_all(closed).unwrap();
        place.assert_clean();
    }
}

/// Does `work` in a filesystem of a few megabytes, where it must leave nothing behind.
fn on_a_small_disk(place: &Place, megabytes: u32, work: impl FnOnce(&Path)) {
    let small = place.path().join("small");
    fs::create_dir(&small).unwrap();
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "-o", &format!("size={megabytes}m,mode=755"), "none"])
        .arg(&small)
        .output()
        .is_ok_and(|output| output.status.success());
    if mounted {
        let worked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| work(&small)));
        let left = fs::read_dir(&small).unwrap().count();
        // A process that another test starts holds open files until it is another program.
        let unmounted = || Command::new("umount").arg(&small).status().unwrap().success();
        wait_for("its unmounting", unmounted);
        worked.unwrap();
        assert_eq!(left, 0);
    } else {
        testing::skip("no file system can be mounted");
    }
    fs::remove_dir(&small).unwrap();
}

#[test]
fn a_disk_that_is_too_small_is_named_and_nothing_left() {
    for subject in first().into_iter().filter(|subject| subject.facts.prepares) {
        let place = Place::new();
        on_a_small_disk(&place, 10, |small| {
            let error = dbms::start(subject.spec(&place, &small.join("trial"))).err().unwrap();
            let text = error.to_string();
            assert!(text.contains("not enough space") && text.contains("free space"), "{text}");
            assert_eq!(error.diagnosis(), Some(Diagnosis::DiskFull));
        });
        place.assert_clean();
    }
}

#[test]
fn a_disk_that_becomes_full_is_diagnosed() {
    for subject in subjects() {
        let place = Place::new();
        on_a_small_disk(&place, 150, |small| {
            let mut system = dbms::start(subject.spec(&place, &small.join("trial"))).unwrap();
            let error = (subject.facts.hoard)(system.as_mut()).unwrap_err();
            let full = Some(Diagnosis::DiskFull);
            // MyRocks ends its server, so that the session only finds it gone.
            if error.diagnosis() != full {
                wait_for(&format!("its end after {error}"), || !system.alive());
            }
            assert_eq!(system.diagnose(), full, "{}", system.log_tail(12));
            system.stop().unwrap().discard().unwrap();
        });
        place.assert_clean();
    }
}
