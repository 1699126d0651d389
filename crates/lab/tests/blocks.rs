//! Blocks of trials, one server at a time.

use lab::{Error, Event};
use store::TrialState;

use crate::common::Site;
use crate::common::world::Fault;

const STEPS: &str = "rows = 300\nsteps = [\"l.i0\", \"l.x\"]";
/// A step that goes on for a second.
const TIMED: &str = "rows = 300\nread_write_seconds = 1\nsteps = [\"l.i0\", \"l.x\", \"qr100\"]";

#[test]
fn trials_run_one_after_another_in_the_order_of_the_schedule() {
    let plan = Site::plan(&["a", "b", "c"], "blocks = 3", STEPS);
    let mut site = Site::new();
    site.run(&plan).unwrap();
    let scheduled: Vec<(u32, String)> = plan
        .schedule(3)
        .iter()
        .flat_map(|block| &block.trials)
        .map(|trial| (trial.block, plan.variants[trial.variant].name.clone()))
        .collect();
    let alternating: Vec<String> = scheduled
        .iter()
        .flat_map(|(_, name)| [format!("start {name}"), format!("stop {name}")])
        .collect();
    assert_eq!(site.world.calls_of(&["start", "stop"]), alternating);
    let trials = site.finished();
    let stored: Vec<_> = trials.iter().map(|t| (t.block, t.variant.clone())).collect();
    assert_eq!(stored, scheduled);
    assert!(trials.iter().all(|trial| trial.steps == ["l.i0", "l.x"]), "{trials:?}");
    let number = |event: &Event| match event {
        Event::TrialBegan { number, .. } => Some(*number),
        _ => None,
    };
    let numbers: Vec<usize> = site.events.iter().filter_map(number).collect();
    assert_eq!(numbers, (1..=9).collect::<Vec<_>>());
    assert_eq!(site.events.last(), Some(&Event::Ended));
    let Err(error) = site.resume() else { panic!("nothing is unfinished") };
    assert!(error.to_string().contains("no unfinished experiment"), "{error}");
}

#[test]
fn a_run_goes_on_only_with_the_same_binaries() {
    let mut site = Site::new();
    site.world.at("stop", 1, Fault::Interrupt);
    let plan = Site::plan(&["a", "b"], "blocks = 1", STEPS);
    assert!(matches!(site.run(&plan), Err(Error::Interrupted)));
    site.world.set_version("14.4");
    let Err(error) = site.resume() else { panic!("it went on") };
    let text = error.to_string();
    assert!(text.contains("was 14.3 and is 14.4 now") && error.is_request(), "{text}");
    assert_eq!(site.world.count("start"), 0);
    site.world.set_version("14.3");
    site.resume().unwrap();
    assert_eq!(site.finished().len(), 2);
}

#[test]
fn a_server_that_dies_is_told_with_its_log_which_is_kept() {
    let mut site = Site::new();
    let plan = Site::plan(&["a"], "blocks = 1", TIMED);
    site.world.set_delay(|_, _| std::time::Duration::from_millis(1));
    site.world.at("request", 50, Fault::Die);
    let Err(error) = site.run(&plan) else { panic!("it did not fail") };
    let text = error.to_string();
    for part in ["variant `a`, block 1", "step qr100", "died (signal: 9)", "the last line"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let trials = site.trials();
    assert_eq!((trials.len(), trials[0].state), (1, TrialState::Failed));
    assert_eq!(trials[0].steps, ["l.i0", "l.x", "settle", "qr100!"]);
    let logs = std::fs::read_dir(site.path().join("results/artifacts/logs")).unwrap();
    let logs: Vec<_> =
        logs.map(|log| std::fs::read_to_string(log.unwrap().path()).unwrap()).collect();
    assert_eq!(logs, ["a is up\n"]);
}

#[test]
fn a_server_that_does_not_answer_is_given_up() {
    let mut site = Site::new();
    let plan = Site::plan(&["a"], "blocks = 1", TIMED);
    site.world.set_delay(|_, _| std::time::Duration::from_millis(1));
    site.world.at("request", 50, Fault::Hang);
    let Err(error) = site.run(&plan) else { panic!("it did not fail") };
    assert!(error.to_string().contains("the server did not answer within"), "{error}");
    assert_eq!(site.trials()[0].steps, ["l.i0", "l.x", "settle", "qr100!"]);
}

#[test]
fn results_that_can_not_be_written_lose_no_finished_trial() {
    let plan = Site::plan(&["a", "b"], "blocks = 2", STEPS);
    let mut site = Site::new();
    site.world.at("stop", 2, Fault::Interrupt);
    assert!(matches!(site.run(&plan), Err(Error::Interrupted)));
    let kept = site.finished();
    assert_eq!(kept.len(), 2);
    let database = rusqlite::Connection::open(site.path().join("results/steelyard.db")).unwrap();
    let full = "CREATE TRIGGER full BEFORE INSERT ON step BEGIN \
                SELECT RAISE(ABORT, 'database or disk is full'); END";
    database.execute_batch(full).unwrap();
    let Err(error) = site.resume() else { panic!("it did not fail") };
    assert!(error.to_string().contains("database or disk is full"), "{error}");
    assert_eq!(site.finished(), kept);
    database.execute_batch("DROP TRIGGER full").unwrap();
    drop(database);
    site.resume().unwrap();
    assert_eq!((site.finished().len(), &site.finished()[..2]), (4, &kept[..]));
}

#[test]
fn tables_on_a_server_of_others_are_dropped_and_it_is_left_running() {
    let text = "blocks = 1\n[variants.theirs]\ndbms = \"postgres://me@localhost/db\"\n\
                [workload.insert]\nrows = 300\nsteps = [\"l.i0\"]\n";
    let mut site = Site::new();
    site.run(&plan::Plan::parse(text, None, "test").unwrap()).unwrap();
    assert_eq!((site.world.count("attach"), site.world.count("start")), (1, 0));
    let calls = site.world.calls_of(&["drop_marked", "create_marked", "stop"]);
    let words: Vec<_> = calls.iter().filter_map(|call| call.split(' ').next()).collect();
    assert_eq!(words, ["drop_marked", "create_marked", "drop_marked", "stop"]);
    site.world.has_table("pi1");
    let refused = site.run(&plan::Plan::parse(text, None, "test").unwrap());
    assert!(matches!(refused, Err(Error::TableExists { .. })), "{refused:?}");
    assert_eq!(site.world.count("create_marked"), 1, "only in the run before");
    let copied =
        format!("restore_after = \"l.i0\"\n{text}").replace("\"l.i0\"]", "\"l.i0\", \"l.x\"]");
    let mut site = Site::new();
    let refused = site.run(&plan::Plan::parse(&copied, None, "test").unwrap());
    assert!(matches!(refused, Err(Error::NoCopy { .. })), "{refused:?}");
    assert!(!site.path().join("results").exists());
}

#[test]
fn what_fails_before_the_first_step_is_told_as_set_up() {
    let mut site = Site::new();
    site.world.at("execute", 1, Fault::Fail);
    let Err(error) = site.run(&Site::plan(&["a"], "blocks = 1", STEPS)) else { panic!("no error") };
    let text = error.to_string();
    assert!(text.contains("variant `a`, block 1, dop 1, step setup: statement failed"), "{text}");
}

#[test]
fn a_full_disk_is_named() {
    for call in ["connect", "request"] {
        let mut site = Site::new();
        site.world.at(call, 1, Fault::DiskFull);
        let plan = Site::plan(&["a"], "blocks = 1", STEPS);
        let Err(error) = site.run(&plan) else { panic!("no error") };
        let text = error.to_string();
        assert!(text.contains("step l.i0: ") && text.contains("is full: free space"), "{text}");
    }
}

#[test]
fn what_only_explains_a_step_never_fails_it() {
    let mut site = Site::new();
    site.world.explains_nothing();
    site.run(&Site::plan(&["a"], "blocks = 1", TIMED)).unwrap();
    let trials = site.finished();
    assert_eq!(trials[0].steps, ["l.i0", "l.x", "settle", "qr100"]);
    let notes = site.notes(&trials[0], "qr100");
    for unknown in [
        "what earlier steps left behind is not known: ",
        "how its statements are executed is not known: ",
        "what sessions waited for is not known: ",
    ] {
        assert!(notes.contains(unknown), "{unknown}\n{notes}");
    }
}
