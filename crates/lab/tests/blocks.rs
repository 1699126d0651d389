//! Blocks of trials, one server at a time.

use lab::{Error, Event};
use store::{ExperimentState, TrialState};

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

/// States of the experiments, the newest first.
fn states(site: &Site) -> Vec<ExperimentState> {
    site.store().experiments().unwrap().iter().map(|it| it.state).collect()
}

/// A run in which nothing is finished.
fn interrupt(site: &mut Site, plan: &plan::Plan) {
    site.world.restart();
    site.world.at("start", 1, Fault::Interrupt);
    assert!(matches!(site.run(plan), Err(Error::Interrupted)));
    site.world.restart();
}

/// The oldest was taken.
#[test]
fn the_latest_unfinished_experiment_is_resumed() {
    let mut site = Site::new();
    let plan = Site::plan(&["a"], "blocks = 1", STEPS);
    interrupt(&mut site, &plan);
    interrupt(&mut site, &plan);
    site.resume().unwrap();
    assert_eq!(states(&site), [ExperimentState::Finished, ExperimentState::Interrupted]);
}

/// It remained the one to resume forever.
#[test]
fn what_would_fail_again_is_not_resumed() {
    let mut site = Site::new();
    let plan = Site::plan(&["a"], "blocks = 1", STEPS);
    interrupt(&mut site, &plan);
    site.world.at("request", 1, Fault::Invalid);
    let Err(error) = site.run(&plan) else { panic!("no error") };
    assert!(error.is_lasting(), "{error}");
    assert!(site.warnings().contains(&store::FAILED.to_owned()), "{:?}", site.warnings());
    // The one before it goes on.
    site.resume().unwrap();
    assert_eq!(states(&site), [ExperimentState::Interrupted, ExperimentState::Finished]);
    let Err(error) = site.resume() else { panic!("it was resumed") };
    let text = error.to_string();
    assert!(text.contains("experiment 2 `fake` would fail again"), "{text}");
    assert!(text.contains("refused") && text.contains("without --resume"), "{text}");
}

/// The half block was paired with what the same binaries did on another machine.
#[test]
fn a_block_begun_on_another_machine_is_done_anew() {
    let plan = Site::plan(&["a", "b"], "blocks = 2", STEPS);
    let interrupted = || {
        let mut site = Site::new();
        site.world.at("stop", 3, Fault::Interrupt);
        assert!(matches!(site.run(&plan), Err(Error::Interrupted)));
        assert_eq!(site.finished().len(), 3);
        site
    };
    let warning = |site: &Site| {
        let results = report::load(&site.store(), report::Which::Latest).unwrap();
        let mut warnings = results.warnings.into_iter().map(|noted| noted.warning);
        warnings.find(|warning| warning.code == "machine-changed").map(|warning| warning.text)
    };
    for (fact, value) in [
        ("kernel", "2.0"),
        ("machine id", "0123456789abcdef"),
        ("cpu model", "Example 9000"),
        ("storage file system", "elsefs"),
    ] {
        let mut site = interrupted();
        let before = site.finished();
        site.ran_elsewhere(fact, Some(value));
        site.resume().unwrap();
        let (finished, trials) = (site.finished(), site.trials());
        assert_eq!(finished.len(), 4);
        // The whole block before stays; the half one is taken back and run again.
        assert_eq!((&finished[..2], finished[2].block, finished[3].block), (&before[..2], 2, 2));
        let back = trials.iter().find(|trial| trial.id == before[2].id).unwrap();
        assert_eq!(back.state, TrialState::Polluted);
        assert_eq!(site.world.count("start"), 2);
        let told = |event: &Event| matches!(event, Event::Note(text) if text.contains("block 2 was begun on another machine or storage"));
        assert!(site.events.iter().any(told), "{:?}", site.events);
        let text = warning(&site).unwrap();
        assert!(text.contains("block 1 on ") && text.contains("block 2 on another: "), "{text}");
        assert!(text.contains("instead of") && text.contains(&value[..3]), "{text}");
        assert!(text.contains("Each block is of one"), "{text}");
    }
    // On the same machine, or if nothing is known of the one before, the half block goes on.
    let mut same = interrupted();
    let before = same.finished();
    same.resume().unwrap();
    assert_eq!((&same.finished()[..3], same.finished().len()), (&before[..], 4));
    assert_eq!(warning(&same), None);
    let mut unknown = interrupted();
    unknown.ran_elsewhere("machine id", None);
    unknown.resume().unwrap();
    assert_eq!(&unknown.finished()[..3], &before[..]);
    assert_eq!(warning(&unknown), None);
}

#[test]
fn a_server_that_dies_is_told_with_its_log_which_is_kept() {
    let mut site = Site::new();
    let plan = Site::plan(&["a"], "blocks = 1", TIMED);
    site.world.set_delay(|_, _| std::time::Duration::from_millis(1));
    site.world.at("request", 50, Fault::Die);
    let Err(error) = site.run(&plan) else { panic!("it did not fail") };
    let text = error.to_string();
    for part in ["variant `a`, block 1", "step qr100", "died (signal: 9)"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(error.log().contains("the last line"), "{}", error.log());
    let file = error.log_file().unwrap();
    assert!(std::fs::read_to_string(file).unwrap().contains("is up"), "{}", file.display());
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

/// The key of a sequence was taken for the number of clients: `dop 1` with 16 of them.
#[test]
fn trials_errors_and_logs_are_known_by_the_clients_they_use() {
    let of = |load: u32| {
        let mut site = Site::new();
        site.world.at("execute", 1, Fault::Fail);
        let text = format!(
            "base = \"a\"\nblocks = 1\nsettle_seconds_scale = 0\n[variants.a]\ndbms = \"postgres@14.3\"\n\
             [workload.sysbench]\ntables = 16\nrows = 100\ndop = 16\nload_dop = {load}\n"
        );
        let error = site.run(&plan::Plan::parse(&text, None, "test").unwrap()).unwrap_err();
        let began = |event: &Event| match event {
            Event::TrialBegan { clients, .. } => Some(clients.to_string()),
            _ => None,
        };
        let began = site.events.iter().find_map(began).unwrap();
        let logs = std::fs::read_dir(site.path().join("results/artifacts/logs")).unwrap();
        let logs = logs.map(|log| log.unwrap().file_name().into_string().unwrap());
        (error.to_string(), began, logs.collect::<Vec<_>>())
    };
    let (error, began, logs) = of(16);
    assert!(error.contains("variant `a`, block 1, dop 16, step setup: "), "{error}");
    assert_eq!((&*began, &logs[..]), ("dop 16", &["a.b1.dop16.t1.log".to_owned()][..]));
    let (error, began, logs) = of(2);
    assert!(error.contains("block 1, dop 2 to 16, step setup: "), "{error}");
    assert_eq!((&*began, &logs[..]), ("dop 2 to 16", &["a.b1.dop2-16.t1.log".to_owned()][..]));
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
