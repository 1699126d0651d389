use super::*;
use std::process::Command;

#[test]
fn entries_without_an_interface_are_those_of_earlier_versions() {
    let (_directory, ledger) = ledger();
    let entry = ledger.enter("a").unwrap();
    let text = fs::read_to_string(&entry.path).unwrap();
    assert!(!text.contains("link"), "{text}");
    assert_eq!(ledger.records().unwrap()[0].link, None);
    entry.remove().unwrap();
}

/// A process identity that is certainly gone.
fn gone() -> ProcessId {
    let mut child = Command::new("sleep").arg("30").spawn().unwrap();
    let id = ProcessId::of(child.id()).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    id
}

fn ledger() -> (tempfile::TempDir, Ledger) {
    let directory = tempfile::tempdir().unwrap();
    let ledger = Ledger::open(directory.path().join("ledger")).unwrap();
    (directory, ledger)
}

#[test]
fn living_owners_are_left_alone() {
    let (directory, ledger) = ledger();
    let mut entry = ledger.enter("a").unwrap();
    let trial = directory.path().join("trial");
    entry.make_directory(&trial, 0o755).unwrap();
    assert!(ledger.sweep(&|_| ()).unwrap().is_empty());
    assert!(trial.exists());
    assert_eq!(ledger.records().unwrap().len(), 1);
    entry.remove().unwrap();
    assert!(!trial.exists());
    assert!(ledger.records().unwrap().is_empty());
}

#[test]
fn what_can_not_be_removed_whole_stays_marked() {
    use std::sync::atomic::{AtomicBool, Ordering};

    let (directory, ledger) = ledger();
    let trial = directory.path().join("trial");
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        // A process that the sweep does not know, and that goes on for a moment.
        scope.spawn(|| {
            for number in 0_u64.. {
                if done.load(Ordering::Relaxed) {
                    break;
                }
                let folder = trial.join((number % 7).to_string());
                let _ = fs::create_dir(&folder);
                let _ = fs::write(folder.join(number.to_string()), "x");
            }
        });
        for _ in 0..200 {
            let mut entry = ledger.enter("a").unwrap();
            entry.make_directory(&trial, 0o755).unwrap();
            let id = entry.record.id.clone();
            if entry.remove().is_err() {
                assert_eq!(fs::read_to_string(trial.join(MARKER)).unwrap(), id);
                while remove_owned(&trial, &id).is_err() {}
                fs::remove_file(ledger.directory.join(format!("{id}.json"))).unwrap();
            }
            assert!(!trial.exists());
        }
        done.store(true, Ordering::Relaxed);
    });
}

#[test]
fn leftovers_of_a_dead_owner_are_removed_only_if_marked() {
    let (directory, ledger) = ledger();
    let mut entry = ledger.enter("a").unwrap();
    let trial = directory.path().join("trial");
    let foreign = directory.path().join("foreign");
    fs::create_dir(&foreign).unwrap();
    fs::write(foreign.join("precious"), "x").unwrap();
    entry.make_directory(&trial, 0o755).unwrap();
    fs::write(trial.join("data"), "x").unwrap();
    let mut child = Command::new("sleep").arg("30").spawn().unwrap();
    entry
        .update(|record| {
            record.owner = gone();
            record.directories.push(foreign.clone());
            record.cgroups.push(PathBuf::from("/cg"));
            record.process = ProcessId::of(child.id());
        })
        .unwrap();
    drop(entry);
    let seen = std::cell::RefCell::new(Vec::new());
    let swept = ledger.sweep(&|groups| seen.borrow_mut().extend_from_slice(groups)).unwrap();
    assert_eq!(swept.len(), 1);
    assert_eq!(swept[0].ended, [child.id()]);
    assert_eq!(swept[0].removed, std::slice::from_ref(&trial));
    assert!(swept[0].problems.is_empty());
    assert_eq!(seen.into_inner(), [PathBuf::from("/cg")]);
    assert!(!trial.exists());
    assert!(foreign.join("precious").exists(), "a directory without our marker is never removed");
    assert!(!child.wait().unwrap().success());
    assert!(ledger.records().unwrap().is_empty());
}

#[test]
fn a_marker_of_another_entry_protects() {
    let (directory, ledger) = ledger();
    let mut entry = ledger.enter("a").unwrap();
    let trial = directory.path().join("trial");
    entry.make_directory(&trial, 0o755).unwrap();
    fs::write(trial.join(MARKER), "another").unwrap();
    entry.update(|record| record.owner = gone()).unwrap();
    drop(entry);
    ledger.sweep(&|_| ()).unwrap();
    assert!(trial.exists());
}

#[test]
fn a_directory_that_holds_something_is_refused() {
    let (directory, ledger) = ledger();
    fs::write(directory.path().join("file"), "x").unwrap();
    let mut entry = ledger.enter("a").unwrap();
    assert!(matches!(
        entry.make_directory(directory.path(), 0o755),
        Err(Error::DirectoryInUse { .. })
    ));
    entry.remove().unwrap();
    assert!(directory.path().join("file").exists());
}

#[test]
fn half_written_entries_of_dead_owners_are_removed() {
    let (_directory, ledger) = ledger();
    let dead = ledger.path().join(format!("1a-{}-0.new", gone().pid));
    let living = ledger.path().join(format!("1a-{}-0.new", std::process::id()));
    // One that is being written may be of another machine that shares the directory.
    let fresh = ledger.path().join(format!("1b-{}-0.new", gone().pid));
    for file in [&dead, &living, &fresh] {
        fs::write(file, "{").unwrap();
    }
    let before = SystemTime::now() - Duration::from_secs(3600);
    File::options().write(true).open(&dead).unwrap().set_modified(before).unwrap();
    ledger.sweep(&|_| ()).unwrap();
    assert!(!dead.exists() && living.exists() && fresh.exists());
}

#[test]
fn what_another_machine_has_recorded_is_left_to_it() {
    let (_directory, ledger) = ledger();
    let mut entry = ledger.enter("theirs").unwrap();
    entry
        .update(|record| {
            record.owner = gone();
            record.host = "another".to_owned();
        })
        .unwrap();
    assert!(ledger.sweep(&|_| ()).unwrap().is_empty());
    entry.update(|record| record.host = proc::host_name()).unwrap();
    assert_eq!(ledger.sweep(&|_| ()).unwrap().len(), 1);
}
