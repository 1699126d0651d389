//! Submissions at a directory, with elements that measure nothing but what the tests say.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod stop;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use archive::{Address, Archive};
use fleet::{
    Claim, Depot, Error, Job, Queued, Scheduler, Start, Started, State, Submission, Waits,
};
use plan::Plan;
use proptest::prelude::*;
use store::{
    ExperimentId, ExperimentState, HostFact, NewExperiment, NewTrial, NewVariant, Purpose,
    StepRecord, Store,
};

const PLAN: &str = "name = \"load\"\nbase = \"a\"\nblocks = 2\n\
                    [variants.a]\ndbms = \"postgres@14.3\"\n[variants.b]\ndbms = \"postgres@15.1\"\n\
                    [workload.insert]\n";
const BEGAN_MS: i64 = 1_700_000_000_000;

/// A place for a submission of `elements`.
struct Site {
    folder: tempfile::TempDir,
    depot: Depot,
}

impl Site {
    fn new(elements: u32) -> Self {
        Self::of(submission(elements))
    }

    fn of(submission: Submission) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let depot = Depot::create(&address(folder.path()), submission, &work(folder.path()));
        Site { depot: depot.unwrap(), folder }
    }

    /// A start of an element that has measured everything, on machine `host`, with this version of
    /// b.
    fn measured(&self, start: &Started, version: &str) -> (Store, ExperimentId) {
        let Start { element, job, restart } = &start.start;
        let place = self.folder.path().join(format!("on-{element}-{job}-{restart}"));
        let store = Store::open(&place).unwrap();
        let plan = self.depot.submission().plan_of(*element).unwrap();
        let experiment = experiment(&store, &plan, start, version);
        (store, experiment)
    }

    fn deliver(&self, start: &Started) -> bool {
        let (store, experiment) = self.measured(start, "15.1");
        self.depot.deliver(start, (&store, experiment), ("0.1.0", &[]), start.at_ms + 1000).unwrap()
    }

    fn merged(&self, claims: &[Claim]) -> (tempfile::TempDir, Store, ExperimentId) {
        let work = tempfile::tempdir().unwrap();
        let (store, id) = fleet::merge(&self.depot, claims, work.path()).unwrap();
        (work, store, id)
    }

    fn archive(&self) -> Archive {
        Archive::open(&address(self.folder.path()), &work(self.folder.path())).unwrap()
    }
}

fn address(folder: &Path) -> Address {
    format!("file://{}", folder.join("shared").display()).parse().unwrap()
}

fn work(folder: &Path) -> std::path::PathBuf {
    folder.join("work")
}

fn submission(elements: u32) -> Submission {
    let plan = Plan::parse(PLAN, None, "a test").unwrap();
    let how = (fleet::Wishes::default(), Vec::new());
    let work = (&plan, fleet::Work::Run);
    Submission::new("s".to_owned(), work, elements, (BEGAN_MS, 7), "0.1.0", how).unwrap()
}

fn start(element: u32, job: &str, restart: u32) -> Started {
    let start = Start { element, job: job.to_owned(), restart };
    let at_ms = BEGAN_MS + i64::from(element) * 100;
    Started { start, host: format!("node{element}"), at_ms }
}

fn experiment(store: &Store, plan: &Plan, started: &Started, version: &str) -> ExperimentId {
    let element = started.start.element;
    let experiment = store
        .begin_experiment(&NewExperiment {
            purpose: Purpose::Run,
            name: plan.name.clone(),
            workload: "insert".to_owned(),
            base: plan.base.clone(),
            seed: plan.seed.unwrap(),
            blocks: plan.blocks,
            margin: plan.margin,
            plan: plan.text.clone(),
            steelyard: "0.1.0".to_owned(),
            created_ms: started.at_ms,
        })
        .unwrap();
    let fact =
        HostFact { group: "system".into(), name: "host".into(), value: started.host.clone() };
    store.record_host(experiment, &[fact]).unwrap();
    let variants = [("a", "14.3"), ("b", version)].map(|(name, version)| {
        let variant = NewVariant {
            name: name.to_owned(),
            dbms: format!("postgres@{version}"),
            source: format!("on {}", started.host),
            version: version.to_owned(),
            build: BTreeMap::new(),
            config: BTreeMap::new(),
        };
        store.add_variant(experiment, &variant).unwrap()
    });
    for block in 0..=plan.blocks {
        for (position, variant) in (1..).zip(variants) {
            let new = NewTrial { experiment, variant, block, position, sequence: 1, started_ms: 5 };
            let trial = store.begin_trial(&new).unwrap();
            let mut step = StepRecord::new(0, "l.i0", 1);
            step.metrics.push(("o/s".to_owned(), f64::from(element * 100 + block)));
            store.record_step(trial, &step).unwrap();
            store.finish_trial(trial).unwrap();
            let logs = store.artifacts().join("logs");
            fs::create_dir_all(&logs).unwrap();
            fs::write(logs.join(format!("v.b{block}.1.t{trial}.log")), &started.host).unwrap();
        }
    }
    store.finish_experiment(experiment).unwrap();
    experiment
}

#[test]
fn all_elements_become_one_experiment() {
    let site = Site::new(3);
    for element in [2, 1] {
        assert!(site.deliver(&start(element, "9", 0)));
        assert!(!fleet::conclude(&site.depot, &site.archive(), Path::new("/nowhere")).unwrap());
    }
    let (_work, store, id) = site.merged(&site.depot.claims().unwrap());
    assert_eq!(store.experiment(id).unwrap().state, ExperimentState::Interrupted, "one is missing");
    assert!(site.deliver(&start(3, "9", 0)));
    let (_work, store, id) = site.merged(&site.depot.claims().unwrap());
    let whole = store.experiment(id).unwrap();
    assert_eq!((whole.state, whole.blocks, whole.seed), (ExperimentState::Finished, 6, 7));
    assert_eq!((whole.name.as_str(), whole.created_ms), ("s", BEGAN_MS));
    assert_eq!(Plan::parse(&whole.plan, None, "it").unwrap().blocks, 6);
    // Whole blocks, in the order of the elements; of the loads, those of the first.
    let trials = store.trials(id).unwrap();
    let mut blocks: Vec<u32> = trials.iter().map(|trial| trial.block).collect();
    blocks.sort_unstable();
    assert_eq!(blocks, [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6]);
    for trial in &trials {
        let element = trial.block.saturating_sub(1) / 2 + 1;
        assert_eq!(store.trial_host_facts(trial.id).unwrap()[0].value, format!("node{element}"));
    }
    let logs = fs::read_dir(store.artifacts().join("logs")).unwrap().count();
    assert_eq!(logs, trials.len(), "a log of each trial");
    // It is with the other experiments, once.
    for _ in 0..2 {
        let work = tempfile::tempdir().unwrap();
        assert!(fleet::conclude(&site.depot, &site.archive(), work.path()).unwrap());
    }
    let all = site.archive().list().unwrap();
    assert_eq!(all.len(), 1);
    assert_eq!((all[0].experiment.trials, &all[0].content), (12, &store.content_hash(id).unwrap()));
}

#[test]
fn an_element_counts_once_whoever_is_first() {
    let site = Site::new(2);
    assert!(site.deliver(&start(1, "9", 1)), "the second start was faster");
    assert!(!site.deliver(&start(1, "9", 0)), "the lost machine comes back");
    let claims = site.depot.claims().unwrap();
    assert_eq!(claims.len(), 1);
    assert_eq!(claims[0].started.start.restart, 1);
    // An answer that was lost and a second try of the same start.
    let (store, id) = site.measured(&start(2, "9", 0), "15.1");
    for _ in 0..2 {
        assert!(
            site.depot.deliver(&start(2, "9", 0), (&store, id), ("0.1.0", &[]), BEGAN_MS).unwrap()
        );
    }
    // Numbers of jobs may be used again: what another has measured is not this.
    let folder = tempfile::tempdir().unwrap();
    let other = Store::open(folder.path()).unwrap();
    let plan = site.depot.submission().plan_of(2).unwrap();
    let mut again = start(2, "9", 0);
    again.at_ms += 7;
    let id = experiment(&other, &plan, &again, "15.1");
    assert!(!site.depot.deliver(&again, (&other, id), ("0.1.0", &[]), BEGAN_MS).unwrap());
    let (_work, store, id) = site.merged(&site.depot.claims().unwrap());
    assert_eq!(store.trials(id).unwrap().len(), 10);
}

#[test]
fn parts_that_do_not_belong_together_are_refused() {
    let site = Site::new(2);
    assert!(site.deliver(&start(1, "9", 0)));
    let (store, id) = site.measured(&start(2, "9", 0), "15.2");
    let error =
        site.depot.deliver(&start(2, "9", 0), (&store, id), ("0.1.0", &[]), BEGAN_MS).unwrap_err();
    assert!(error.is_request(), "{error}");
    let error = error.to_string();
    assert!(
        error.contains("b: 15.1") && error.contains("found steelyard 0.1.0; a: 14.3"),
        "{error}"
    );
    let (store, id) = site.measured(&start(2, "9", 1), "15.1");
    let error =
        site.depot.deliver(&start(2, "9", 1), (&store, id), ("0.2.0", &[]), BEGAN_MS).unwrap_err();
    assert!(matches!(error, Error::Differs { .. }), "another steelyard: {error}");
    let claims = site.depot.claims().unwrap();
    assert_eq!(claims.len(), 1);
    let work = tempfile::tempdir().unwrap();
    let nothing = fleet::merge(&site.depot, &[], &work.path().join("other")).unwrap_err();
    assert!(matches!(nothing, Error::Nothing(_)), "{nothing}");
    // What was changed after it was claimed is not taken for it.
    let mut claims = claims;
    claims[0].content = "0".repeat(64);
    let changed = fleet::merge(&site.depot, &claims[..1], &work.path().join("third"));
    let changed = changed.unwrap_err().to_string();
    assert!(changed.starts_with("element 1, from node1: "), "{changed}");
}

#[test]
fn names_are_taken_once_and_known() {
    let site = Site::new(1);
    let (address, work) = (address(site.folder.path()), work(site.folder.path()));
    // The answer to a first try may be lost.
    assert!(Depot::create(&address, submission(1), &work).is_ok());
    let other = Submission { created_ms: BEGAN_MS + 1, ..submission(1) };
    let again = Depot::create(&address, other, &work).unwrap_err();
    assert!(matches!(again, Error::Taken { .. }) && again.is_request(), "{again}");
    let unknown = Depot::open(&address, "other", &work).unwrap_err().to_string();
    assert!(unknown.contains("there are s"), "{unknown}");
    assert_eq!(Depot::open(&address, "s", &work).unwrap().submission(), &submission(1));
    assert!(matches!(Depot::open(&address, "../s", &work), Err(Error::Name(_))));
}

/// A scheduler that has what it is told.
struct Queue(Vec<Queued>);

impl Scheduler for Queue {
    fn submit(&self, _: &str) -> Result<String, Error> {
        Ok("1".to_owned())
    }

    fn queue(&self, _: &[Job]) -> Result<Vec<Queued>, Error> {
        Ok(self.0.clone())
    }

    fn cancel(&self, _: &[Job]) -> Result<(), Error> {
        Ok(())
    }
}

#[test]
fn the_status_says_what_became_of_each_element() {
    let site = Site::new(6);
    let queued = |element, waits| Queued { element, job: "9".to_owned(), waits };
    let waits = |why: &str| Waits::For(why.to_owned());
    let fail = |element: u32, restart| {
        let started = start(element, "9", restart);
        site.depot.add_start(&started).unwrap();
        let failed = fleet::Failed { why: format!("why {restart}"), at_ms: started.at_ms, started };
        site.depot.add_failure(&failed).unwrap();
    };
    // Done although the scheduler still has it; failed and waiting for another try; failed for
    // good, twice; running although it failed before; never started; and one in two jobs.
    site.depot.add_start(&start(1, "9", 0)).unwrap();
    assert!(site.deliver(&start(1, "9", 0)));
    fail(2, 0);
    fail(3, 0);
    fail(3, 1);
    fail(4, 0);
    let queue = Queue(vec![
        queued(1, Waits::Not("node7".to_owned())),
        queued(2, waits("BeginTime")),
        queued(4, Waits::Not("node8".to_owned())),
        queued(6, waits("Resources")),
        queued(6, Waits::Not("node9".to_owned())),
    ]);
    let now_ms = BEGAN_MS + 60_000;
    let mut status = fleet::status(&site.depot, &queue, now_ms).unwrap();
    assert_eq!(status.elements[0].host, None, "its claim was not read");
    status.name_machines(&site.depot).unwrap();
    let seen: Vec<_> = status
        .elements
        .iter()
        .map(|it| (it.state, it.host.as_deref().unwrap_or(""), it.starts, it.why.as_deref()))
        .collect();
    assert_eq!(
        seen,
        [
            (State::Done, "node1", 1, None),
            (State::Waiting, "", 1, Some("BeginTime; before, on node2: why 0")),
            (State::Failed, "node3", 2, Some("why 1")),
            (State::Running, "node8", 1, None),
            (State::Lost, "", 0, Some("it was not submitted")),
            (State::Running, "node9", 0, None),
        ]
    );
    assert!(status.stuck_since_ms.is_none());
}

#[test]
fn a_queue_that_does_not_move_is_stuck() {
    let site = Site::new(2);
    let began_ms = store::now_ms();
    site.depot.add_job(&Job { job: "9".into(), elements: vec![1, 2], at_ms: began_ms }).unwrap();
    let waiting = |element| Queued {
        element,
        job: "9".to_owned(),
        waits: Waits::For("Resources".to_owned()),
    };
    let minutes = |minutes: i64| began_ms + minutes * 60_000;
    let at = |queue: &Queue, now| fleet::status(&site.depot, queue, now).unwrap().stuck_since_ms;
    let queue = Queue(vec![waiting(1), waiting(2)]);
    assert_eq!(at(&queue, minutes(4)), None);
    assert_eq!(at(&queue, minutes(6)), Some(began_ms));
    // Something that runs may take long.
    let running = Queued { waits: Waits::Not("node1".to_owned()), ..waiting(1) };
    assert_eq!(at(&Queue(vec![running, waiting(2)]), minutes(600)), None);
    // A machine whose clock is fast by a day hides nothing: that of the storage counts.
    let mut fast = start(1, "9", 0);
    fast.at_ms = minutes(24 * 60);
    site.depot.add_start(&fast).unwrap();
    let moved = at(&queue, minutes(60));
    assert!(moved.is_some_and(|at| (began_ms..minutes(30)).contains(&at)), "{moved:?}");
    assert_eq!(at(&Queue(Vec::new()), minutes(6)), None, "lost, but not stuck");
}

#[test]
fn what_was_read_is_not_read_again() {
    let site = Site::new(5);
    let depot = Depot::open(&address(site.folder.path()), "s", &work(site.folder.path())).unwrap();
    let mut before = depot.requests();
    let mut asked = || {
        let now = depot.requests();
        let new = (now.reads - before.reads, now.lists - before.lists, now.writes - before.writes);
        before = now;
        new
    };
    let deliver = |element| {
        let started = start(element, "9", 0);
        site.depot.add_start(&started).unwrap();
        assert!(site.deliver(&started));
    };
    let running = |element| {
        let waits = Waits::Not(format!("node{element}"));
        Queued { element, job: "9".to_owned(), waits }
    };
    let status = |queue: &[u32]| {
        let queue = Queue(queue.iter().map(|element| running(*element)).collect());
        let status = fleet::status(&depot, &queue, store::now_ms()).unwrap();
        status.those(State::Done).count()
    };
    let place = tempfile::tempdir().unwrap();
    let mut growing = fleet::Growing::new(&depot, place.path()).unwrap();
    for element in [5, 2, 3] {
        deliver(element);
    }
    // The names say who is done; of those that run, the scheduler says it.
    assert_eq!((status(&[1, 4]), asked()), (3, (0, 5, 0)));
    growing.add(&depot.claims().unwrap()).unwrap();
    assert_eq!(asked(), (3 + 3, 1, 0), "claims and parts");
    deliver(1);
    assert_eq!((status(&[4]), asked()), (4, (0, 5, 0)));
    growing.add(&depot.claims().unwrap()).unwrap();
    growing.add(&depot.claims().unwrap()).unwrap();
    assert_eq!(asked(), (1 + 1, 2, 0), "only those of the new one");
    assert!(!fleet::conclude(&depot, &site.archive(), place.path()).unwrap());
    assert_eq!(asked(), (1, 1, 0), "an element that is done reads no claims");
    let (store, id) = growing.experiment().unwrap();
    let nodes: Vec<String> = store
        .trial_hosts(id)
        .unwrap()
        .into_iter()
        .map(|(facts, trials)| format!("{} {}", facts[0].value, trials.len()))
        .collect();
    assert_eq!(nodes.len(), 4, "{nodes:?}");
    assert_eq!(store.experiment(id).unwrap().state, ExperimentState::Interrupted);
    assert_eq!(store.experiment(id).unwrap().blocks, 8);
    // Of one that was lost, its start is read, once; and whether all was canceled is asked.
    site.depot.add_start(&start(4, "9", 0)).unwrap();
    assert_eq!((status(&[]), asked()), (4, (1, 6, 0)));
    assert_eq!((status(&[]), asked()), (4, (0, 6, 0)));
}

/// A scheduler that keeps the scripts.
#[derive(Default)]
struct Scripts(std::sync::Mutex<Vec<String>>);

impl Scheduler for Scripts {
    fn submit(&self, script: &str) -> Result<String, Error> {
        let mut all = self.0.lock().unwrap();
        all.push(script.to_owned());
        Ok((100 + all.len()).to_string())
    }

    fn queue(&self, _: &[Job]) -> Result<Vec<Queued>, Error> {
        Ok(Vec::new())
    }

    fn cancel(&self, _: &[Job]) -> Result<(), Error> {
        Ok(())
    }
}

#[test]
fn an_element_goes_where_no_element_was_refused() {
    let (site, scripts) = (Site::new(3), Scripts::default());
    let words = ["steelyard", "element", "s"].map(str::to_owned);
    let refuse = |element, job: &str, host: &str| {
        let started = Started { host: host.to_owned(), ..start(element, job, 0) };
        site.depot.add_start(&started).unwrap();
        let failed = fleet::Failed { why: format!("{host} is slow"), at_ms: BEGAN_MS, started };
        let job = fleet::elsewhere(&site.depot, &scripts, &failed, &words, BEGAN_MS).unwrap();
        site.depot.add_failure(&failed).unwrap();
        job.map(|job| job.job)
    };
    assert_eq!(refuse(1, "9", "node1").as_deref(), Some("101"));
    assert_eq!(refuse(2, "9", "node2").as_deref(), Some("102"));
    assert_eq!(refuse(1, "101", "node3").as_deref(), Some("103"));
    assert_eq!(refuse(1, "103", "node4"), None, "three machines");
    let scripts = scripts.0.lock().unwrap();
    let excluded = |script: &String| {
        let line = script.lines().find(|line| line.contains("--exclude=")).unwrap();
        line.rsplit('=').next().unwrap().to_owned()
    };
    let excluded: Vec<String> = scripts.iter().map(excluded).collect();
    assert_eq!(excluded, ["node1", "node1,node2", "node1,node2,node3"]);
    assert!(
        scripts[2].contains(
            "--array=1
"
        ),
        "{}",
        scripts[2]
    );
    let status = fleet::status(&site.depot, &Queue(Vec::new()), store::now_ms()).unwrap();
    let unfit: Vec<(&str, usize)> =
        status.unfit.iter().map(|(host, it)| (host.as_str(), it.starts)).collect();
    assert_eq!(unfit, [("node1", 1), ("node2", 1), ("node3", 1), ("node4", 1)]);
    assert_eq!(status.unfit["node4"].why, "node4 is slow");
    assert_eq!(site.depot.jobs().unwrap().len(), 3);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// However often, on whichever machines and in whatever order elements are started and end, the
    /// same claims make the same experiment.
    #[test]
    fn the_merged_experiment_depends_on_the_claims_alone(
        deliveries in prop::collection::vec((1u32..=3, 0u32..3), 1..8),
        seed in any::<u64>(),
    ) {
        let site = Site::new(3);
        let mut first = BTreeMap::new();
        for (element, restart) in &deliveries {
            let mine = site.deliver(&start(*element, "9", *restart));
            // Whoever measured again, even under the same number, has another part.
            prop_assert_eq!(mine, !first.contains_key(element));
            first.entry(*element).or_insert(*restart);
        }
        let claims = site.depot.claims().unwrap();
        let won: BTreeMap<u32, u32> =
            claims.iter().map(|it| (it.started.start.element, it.started.start.restart)).collect();
        prop_assert_eq!(&won, &first);
        let mut shuffled = claims.clone();
        shuffled.rotate_left((seed % claims.len() as u64) as usize);
        let (_one, one, id) = site.merged(&claims);
        let (_other, other, other_id) = site.merged(&shuffled);
        prop_assert_eq!(one.content_hash(id).unwrap(), other.content_hash(other_id).unwrap());
        prop_assert_eq!(one.trials(id).unwrap().len(), claims.len() * 4 + 2);
    }
}
