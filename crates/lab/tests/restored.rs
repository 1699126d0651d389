//! Plans that load once.

use store::TrialState;

use crate::common::Site;
use crate::common::world::Fault;

const WHOLE: &str = "blocks = 2\nrestore_after = \"l.i0\"";
const STEPS: &str = "rows = 300\nsteps = [\"l.i0\", \"l.x\"]";

#[test]
fn each_variant_loads_once_and_its_trials_begin_on_copies() {
    let mut site = Site::new();
    site.run(&Site::plan(&["a", "b"], WHOLE, STEPS)).unwrap();
    assert_eq!((site.world.count("start"), site.world.count("copy")), (2, 4));
    let trials = site.finished();
    let (loads, trials) = trials.split_at(2);
    assert!(loads.iter().all(|t| t.block == 0 && t.steps == ["l.i0", "keep"]), "{loads:?}");
    assert!(trials.iter().all(|t| t.block > 0 && t.steps == ["restore", "l.x"]), "{trials:?}");
    for trial in trials {
        let load = loads.iter().find(|load| load.variant == trial.variant).unwrap();
        let (kept, copy) = (site.notes(load, "keep"), site.notes(trial, "restore"));
        let digest = |note: &str, about: &str| note.split(about).nth(1).unwrap()[..16].to_owned();
        assert_eq!(digest(&kept, "kept as load "), digest(&copy, "copy of load "));
    }
    assert_eq!(site.warnings(), ["one-load"]);
}

#[test]
fn a_run_that_goes_on_loads_again_and_says_so() {
    let mut site = Site::new();
    let plan = Site::plan(&["a"], WHOLE, STEPS);
    site.world.at("copy", 2, Fault::Interrupt);
    assert!(site.run(&plan).is_err());
    let kept = site.finished();
    assert_eq!(kept.len(), 2, "the load and a trial");
    site.resume().unwrap();
    assert_eq!((site.world.count("start"), site.world.count("copy")), (1, 1));
    let finished = site.finished();
    assert_eq!((finished.len(), &finished[..2]), (3, &kept[..]), "the first load counts");
    let again = site.trials().into_iter().filter(|t| t.block == 0).nth(1).unwrap();
    assert_eq!(again.state, TrialState::Failed, "what only served to go on is no result");
    assert_eq!(site.warnings(), ["one-load", "loaded-again"]);
    let digest = site.notes(finished.last().unwrap(), "restore")[13..29].to_owned();
    let store = site.store();
    let experiment = store.latest().unwrap().unwrap();
    let warnings = store.warnings(experiment.id).unwrap();
    let told = warnings.iter().find(|stored| stored.warning.code == "loaded-again").unwrap();
    assert!(told.warning.text.contains(&digest), "{told:?} does not name {digest}");
}

#[test]
fn half_of_the_loads_on_another_machine_are_done_anew() {
    let mut site = Site::new();
    let plan = Site::plan(&["a", "b"], WHOLE, STEPS);
    site.world.at("start", 2, Fault::Interrupt);
    assert!(site.run(&plan).is_err());
    let first = site.finished();
    assert_eq!((first.len(), first[0].block), (1, 0), "one of two loads");
    site.ran_elsewhere("kernel", Some("2.0"));
    site.resume().unwrap();
    let loads: Vec<_> = site.finished().into_iter().filter(|trial| trial.block == 0).collect();
    assert_eq!(loads.len(), 2);
    assert!(loads.iter().all(|load| load.id != first[0].id), "{loads:?}");
    assert_eq!(site.warnings(), ["one-load"]);
}

#[test]
fn settling_after_the_load_belongs_to_it() {
    let mut site = Site::new();
    let steps = "rows = 300\nindexed_rows = 100\nsecondary_indexes = 0\nread_write_seconds = 1\n\
                 steps = [\"l.i0\", \"l.i1\", \"l.i2\", \"qr100\"]";
    let whole = "blocks = 1\nrestore_after = \"l.i2\"";
    site.run(&Site::plan(&["a"], whole, steps)).unwrap();
    let trials = site.finished();
    assert_eq!(trials[0].steps, ["l.i0", "l.i1", "l.i2", "settle", "keep"]);
    assert_eq!(trials[1].steps, ["restore", "qr100"]);
}

#[test]
fn steps_that_are_not_named_are_loaded_once_and_get_no_advice() {
    let mut site = Site::new();
    let steps = "rows = 300\nread_write_seconds = 1\nsteps = [\"qr100\"]";
    site.run(&Site::plan(&["a"], "blocks = 2", steps)).unwrap();
    let first_and_last: Vec<_> = site
        .finished()
        .into_iter()
        .map(|trial| (trial.block, trial.steps.first().cloned(), trial.steps.last().cloned()))
        .map(|(block, first, last)| (block, first.unwrap(), last.unwrap()))
        .collect();
    let of = |block, first: &str, last: &str| (block, first.to_owned(), last.to_owned());
    let trials = [of(0, "l.i0", "keep"), of(1, "restore", "qr100"), of(2, "restore", "qr100")];
    assert_eq!(first_and_last, trials);
    let store = site.store();
    let warnings = store.warnings(store.latest().unwrap().unwrap().id).unwrap();
    let texts: Vec<_> = warnings.into_iter().map(|stored| stored.warning.text).collect();
    assert!(!texts.iter().any(|text| text.contains("l.i0 took only")), "{texts:?}");
}
