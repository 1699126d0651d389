//! Trials from which a hypervisor takes CPU time. That can't be arranged at will, so `/proc/stat`
//! is replaced, for the command alone, by a file in which half of the time is stolen.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::database::Database;
use crate::place::{Ended, Place};
use crate::plans::{BOTH, ONE, plan};

/// Replaces `/proc/stat` by its first argument and becomes the command that follows.
const WITH_STAT: &str = "mount --bind \"$0\" /proc/stat && exec \"$@\"";

/// A `/proc/stat` that goes on: as much CPU time stolen as used.
struct StolenTime {
    path: PathBuf,
    end: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl StolenTime {
    fn begin(directory: &Path) -> Self {
        let path = directory.join("stat");
        fs::write(&path, stat(0)).unwrap();
        let file = File::options().write(true).open(&path).unwrap();
        let end = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&end);
        let thread = std::thread::spawn(move || {
            // Its length never changes, so that a reader never finds half of it.
            for ticks in 1.. {
                if ended.load(Ordering::Relaxed) {
                    return;
                }
                file.write_at(stat(ticks).as_bytes(), 0).unwrap();
                std::thread::sleep(Duration::from_millis(5));
            }
        });
        Self { path, end, thread: Some(thread) }
    }

    /// True if this machine lets us replace it at all, which takes root's rights.
    fn possible(&self) -> bool {
        let tried = self.around(&Command::new("true")).output();
        tried.is_ok_and(|output| output.status.success())
    }

    /// The command in a mount namespace of its own, in which this is `/proc/stat`.
    fn around(&self, command: &Command) -> Command {
        let mut around = Command::new("unshare");
        around.args(["--mount", "--propagation", "private", "sh", "-c", WITH_STAT]);
        around.arg(&self.path).arg(command.get_program()).args(command.get_args());
        around
    }
}

impl Drop for StolenTime {
    fn drop(&mut self) {
        self.end.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

fn stat(ticks: u64) -> String {
    format!(
        "cpu  {ticks:010} 0 0 1000 0 0 0 {ticks:010} 0 0\nctxt {ticks:010}\nprocs_running 1\nprocs_blocked 0\n"
    )
}

/// Runs a plan while time is stolen; `None` where that is not possible.
fn run_robbed(place: &Place, text: &str) -> Option<Ended> {
    let stolen = StolenTime::begin(place.path());
    if !stolen.possible() {
        testing::skip("this user cannot replace /proc/stat");
        return None;
    }
    let file = place.plan(text);
    Some(place.start_run_in(|command| stolen.around(command), &[&file]).end())
}

/// State and names of the steps of each attempt, in order.
fn attempts(database: &Database) -> Vec<(String, String)> {
    database.list(
        "SELECT t.state, coalesce(group_concat(n.text, ' '), '') FROM trial t \
         LEFT JOIN step s ON s.trial_id = t.id LEFT JOIN name n ON n.id = s.name_id GROUP BY t.id ORDER BY t.id",
        |row| Ok((row.get(0)?, row.get(1)?)),
    )
}

fn expected(attempts: &[(&str, &str)]) -> Vec<(String, String)> {
    attempts.iter().map(|(state, steps)| ((*state).to_owned(), (*steps).to_owned())).collect()
}

#[test]
fn a_polluted_trial_is_broken_off_and_run_again_and_the_last_attempt_counts() {
    let place = Place::new();
    let text =
        plan(ONE, "steal_limit = 0.05\nrepeats = 1", "rows = 20000\nsteps = [\"l.i0\", \"l.x\"]");
    let Some(ran) = run_robbed(&place, &text) else { return };
    ran.expect(0, &["above the plan's `steal_limit` of 5%; repeating the trial"]);
    let database = Database::of(&place.results());
    database.assert_sound();
    assert_eq!(attempts(&database), expected(&[("polluted", "l.i0"), ("finished", "l.i0 l.x")]));
    let warned = database.texts(
        "SELECT w.text FROM warning w JOIN trial t ON t.id = w.trial_id \
         WHERE w.code = 'polluted' AND t.state = 'finished'",
    );
    assert_eq!(warned.len(), 1, "{warned:?}");
    assert!(warned[0].ends_with("it counts because it was already repeated once"), "{warned:?}");
    let share = database.metric("l.i0", "steal").unwrap();
    assert!((share - 0.5).abs() < 0.05, "{share}");
    drop(database);
    let compared = place.steelyard(&["compare"]);
    for part in ["Trials without results", "polluted", "the hypervisor took 50.0%"] {
        assert!(compared.stdout.contains(part), "`{part}` is missing in:\n{}", compared.stdout);
    }
}

/// The step that shows it is `l.x`, which runs in turns.
#[test]
fn trials_of_servers_that_are_up_together_are_not_repeated() {
    let place = Place::new();
    let whole = "pairing = \"slices\"\nslice_ms = 40\nrepeats = 1";
    let text = plan(
        BOTH,
        &format!("steal_limit = 0.05\n{whole}"),
        "rows = 60000\nsteps = [\"l.i0\", \"l.x\"]",
    );
    let Some(ran) = run_robbed(&place, &text) else { return };
    ran.expect(0, &[]);
    let database = Database::of(&place.results());
    let states: Vec<String> = attempts(&database).into_iter().map(|(state, _)| state).collect();
    assert_eq!(states, ["finished", "finished"]);
    assert_eq!(database.number("SELECT count(*) FROM warning WHERE code = 'polluted'"), 2);
}

#[test]
fn what_is_stolen_from_slices_repeats_nothing_and_is_told() {
    let place = Place::new();
    let text = plan(
        BOTH,
        "steal_limit = 0.05\nrepeats = 1\npairing = \"slices\"\nslice_ms = 40",
        "rows = 60000\nsteps = [\"l.i0\"]",
    );
    let Some(ran) = run_robbed(&place, &text) else { return };
    ran.expect(0, &[]);
    let database = Database::of(&place.results());
    assert_eq!(attempts(&database), expected(&[("finished", "l.i0"), ("finished", "l.i0")]));
    assert_eq!(database.number("SELECT count(*) FROM warning WHERE code = 'polluted'"), 0);
    assert_eq!(database.number("SELECT count(*) FROM warning WHERE code = 'steal'"), 2);
}

#[test]
fn a_limit_of_one_repeats_nothing() {
    let place = Place::new();
    let text = plan(ONE, "steal_limit = 1", "steps = [\"l.i0\"]");
    let Some(ran) = run_robbed(&place, &text) else { return };
    ran.expect(0, &[]);
    let database = Database::of(&place.results());
    assert_eq!(attempts(&database), expected(&[("finished", "l.i0")]));
    assert_eq!(database.number("SELECT count(*) FROM warning WHERE code = 'polluted'"), 0);
}
