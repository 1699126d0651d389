//! A toy workload on a toy engine, in a process of its own: the smallest example of each.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dbms::embedded::{Inside, Program, Workplace};
use dbms::{
    Cache, Endpoint, Error, Footprint, Installation, Ledger, Origin, Reference, ServerSpec,
    ServerUser, Setting, Settled, Snapshot, Started, System,
};
use drive::{Batch, Connect, Key, KeyValueEngine, ServerError, Target};
use lab::{Event, Installed, Options, Resume, Systems};
use plan::{Plan, StepKey};
use store::{Scope, Store};
use workload::Scan;

/// The engine: a map that is written to a file when the engine is closed.
#[derive(Debug, Default)]
struct Toy {
    pairs: Mutex<BTreeMap<Key, Vec<u8>>>,
    gets: std::sync::atomic::AtomicU64,
}

impl Toy {
    fn pairs(&self) -> MutexGuard<'_, BTreeMap<Key, Vec<u8>>> {
        self.pairs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open(file: &Path) -> Toy {
        let toy = Toy::default();
        let bytes = std::fs::read(file).unwrap_or_default();
        for pair in bytes.chunks(120) {
            toy.pairs().insert(pair[..20].try_into().unwrap(), pair[20..].to_vec());
        }
        toy
    }

    fn close(&self, file: &Path) {
        let bytes = |(key, value): (&Key, &Vec<u8>)| [&key[..], value].concat();
        let all: Vec<u8> = self.pairs().iter().flat_map(bytes).collect();
        std::fs::write(file, all).unwrap();
    }
}

impl KeyValueEngine for Toy {
    fn get(&self, keys: &[Key], mut see: impl FnMut(&[u8], &[u8])) -> Result<(), Box<ServerError>> {
        self.gets.fetch_add(keys.len() as u64, std::sync::atomic::Ordering::Relaxed);
        let pairs = self.pairs();
        keys.iter().filter_map(|key| pairs.get_key_value(key)).for_each(|(key, it)| see(key, it));
        Ok(())
    }

    fn put(&self, batch: &Batch, _logged: bool) -> Result<(), Box<ServerError>> {
        self.pairs().extend(batch.pairs().map(|(key, value)| (*key, value.to_vec())));
        Ok(())
    }

    fn delete(&self, key: &Key) -> Result<(), Box<ServerError>> {
        self.pairs().remove(key);
        Ok(())
    }

    fn scan(
        &self,
        from: &Key,
        scan: Scan,
        mut see: impl FnMut(&[u8], &[u8]),
    ) -> Result<(), Box<ServerError>> {
        let pairs = self.pairs();
        pairs.range(*from..).take(scan.pairs as usize).for_each(|(key, value)| see(key, value));
        Ok(())
    }
}

/// Answers requests other than loads.
struct ToyInside(Arc<Toy>, BTreeMap<String, String>);

impl Inside for ToyInside {
    fn settings(&mut self) -> Result<Vec<Setting>, String> {
        let setting = |(name, value): (&String, &String)| Setting {
            name: name.clone(),
            value: value.clone(),
            unit: None,
            source: "plan".to_owned(),
            boot_value: None,
        };
        Ok(self.1.iter().map(setting).collect())
    }

    fn counters(&mut self, _objects: &[String]) -> Result<Snapshot, String> {
        let gets = self.0.gets.load(std::sync::atomic::Ordering::Relaxed) as f64;
        let (view, object, name) = ("toy".to_owned(), String::new(), "gets".to_owned());
        let rows = vec![dbms::Counter { view, object, name, value: gets }];
        Ok(Snapshot { rows, ..Snapshot::default() })
    }

    fn footprint(&mut self, _objects: &[String]) -> Result<Vec<Footprint>, String> {
        let bytes = self.0.pairs().values().map(|value| value.len() as u64).sum();
        let bytes = [("total".to_owned(), bytes)].into();
        Ok(vec![Footprint { object: "pairs".to_owned(), bytes }])
    }

    fn settle(&mut self, _objects: &[String]) -> Result<Settled, String> {
        Ok(Settled { seconds: 0.0, lines: vec!["nothing to pay off".to_owned()] })
    }

    fn flush(&mut self) -> Result<(), String> {
        Ok(())
    }
}

/// The program of the engine's process: this test again.
fn engine(place: &Workplace) {
    let file = place.data.join("pairs");
    let toy = Arc::new(Toy::open(&file));
    let connect: Arc<dyn Connect> = Arc::new(Arc::clone(&toy));
    let inside = ToyInside(Arc::clone(&toy), place.config.clone());
    dbms::embedded::serve(place, inside, move |stream| {
        let _ = drive::serve(stream, &connect);
    })
    .unwrap();
    toy.close(&file);
    std::process::exit(0);
}

/// The real systems, with the toy in the place of RocksDB.
struct Toys(Installed);

impl Systems for Toys {
    fn cache(&self) -> &Cache {
        self.0.cache()
    }

    fn obtain(
        &self,
        reference: &Reference,
        _: Option<&str>,
        _: &AtomicBool,
        _: &dyn Fn(&str),
    ) -> Result<Installation, Error> {
        Ok(Installation {
            dbms: "rocksdb".to_owned(),
            version: "1.0".to_owned(),
            source: reference.to_string(),
            bin_dir: Some(self.cache().path().to_path_buf()),
            build: BTreeMap::new(),
        })
    }

    fn user(&self, name: Option<&str>) -> Result<ServerUser, Error> {
        self.0.user(name)
    }

    fn start(&self, spec: ServerSpec<'_>, origin: Option<&Origin<'_>>) -> Result<Started, Error> {
        let again = testing::again(&[], Path::new("engine"));
        let program = Program {
            path: again.get_program().into(),
            arguments: again.get_args().map(Into::into).collect(),
            environment: again
                .get_envs()
                .filter_map(|(n, v)| Some((n.into(), v?.into())))
                .collect(),
        };
        dbms::embedded::start(&spec, origin, &program)
    }

    fn attach(&self, reference: &Reference) -> Result<Box<dyn System>, Error> {
        self.0.attach(reference)
    }

    fn target(&self, variant: &str, endpoint: Endpoint) -> Target {
        self.0.target(variant, endpoint)
    }
}

/// Runs a plan and gives its results.
fn run(directory: &Path, text: &str) -> (Vec<Event>, Store) {
    let plan = Plan::parse(text, None, "test").unwrap();
    let mut options = Options::new(directory.join("results"), "test");
    options.data_dir = directory.join("data");
    options.allow_concurrent = true;
    options.writeback_limit = std::time::Duration::ZERO;
    let ledger = Ledger::open(directory.join("ledger")).unwrap();
    let systems = Toys(Installed(Cache::at(directory.join("cache")).unwrap()));
    let mut events = Vec::new();
    let new = Resume::New(Box::new(plan));
    let never = AtomicBool::new(false);
    let ran = lab::run(new, &options, &systems, &ledger, &never, &mut |event| events.push(event));
    ran.unwrap_or_else(|error| panic!("{error}: {events:?}"));
    assert_eq!(ledger.records().unwrap().len(), 0);
    (events, Store::open_read_only(&directory.join("results")).unwrap())
}

/// Two variants of the engine that are up together, all but one of them frozen.
#[test]
fn an_engine_is_frozen_with_its_clients() {
    if let Some(place) = Workplace::given() {
        return engine(&place);
    }
    let directory = testing::directory();
    let text = format!(
        "name = \"toy\"\nbase = \"a\"\nblocks = 1\nsettle_seconds_scale = 0\nsteal_limit = 1\n\
         pairing = \"frozen\"\nslice_ms = 10\n\
         [variants.a]\ndbms = \"rocksdb@path:{0}\"\n[variants.b]\ndbms = \"rocksdb@path:{0}\"\n\
         [workload.toy]\nrows = 30000\nseconds = 1\ndop = [2]\n",
        directory.path().display()
    );
    let (_, store) = run(directory.path(), &text);
    let experiment = store.latest().unwrap().unwrap().id;
    let steps = store.steps(experiment, Scope::Results).unwrap();
    let of = |name: &str| steps.iter().filter(|step| step.key.name == name).collect::<Vec<_>>();
    let (fill, read) = (of("fill"), of("read"));
    assert_eq!((fill.len(), read.len()), (2, 4), "two distributions");
    for step in fill.iter().chain(&read) {
        let notes = step.notes.concat();
        assert!(notes.contains("in frozen slices with all variants"), "{notes}");
        assert!(notes.contains("delayed_write_rate = 8388608"), "{notes}");
        let metrics = store.metrics(step.id).unwrap();
        assert!(metrics["slice.rounds"] > 1.0 && metrics["slice.switch_ms"] > 0.0, "{metrics:?}");
    }
    // Each has done its own work, however often it was frozen in between.
    assert!(fill.iter().all(|step| step.operations == 30_000), "{fill:?}");
    for step in read {
        assert!(step.seconds > 0.9, "{} s of its own", step.seconds);
        let rounds = |other: &&store::Step| store.metrics(other.id).unwrap()["slice.rounds"];
        let alike = of("read").into_iter().filter(|other| other.key == step.key);
        let alike: Vec<f64> = alike.map(|other| rounds(&other)).collect();
        assert_eq!((alike.len(), alike[0].to_bits()), (2, alike[1].to_bits()), "{alike:?}");
        // What was counted while it was frozen is what its clients did.
        let gets = store.counters(step.id).unwrap()[0].value;
        assert!(gets >= step.operations as f64 && step.operations > 0, "{gets}");
    }
}

#[test]
fn a_toy_workload_runs_on_a_toy_engine_in_a_process_of_its_own() {
    if let Some(place) = Workplace::given() {
        return engine(&place);
    }
    let directory = testing::directory();
    let text = format!(
        "name = \"toy\"\nbase = \"a\"\nblocks = 1\nsettle_seconds_scale = 0\n\
         restore_after = \"fill\"\nsteal_limit = 1\n\
         [variants.a]\ndbms = \"rocksdb@path:{0}\"\nconfig = {{ color = \"blue\" }}\n\
         [variants.b]\ndbms = \"rocksdb@path:{0}\"\n\
         [workload.toy]\nrows = 500\nseconds = 1\ndop = [1, 2]\nprogram = true\n",
        directory.path().display()
    );
    let (events, store) = run(directory.path(), &text);
    // One sequence: no engine is started anew for another number of clients.
    // It is told what clients its steps have, and they are told apart by theirs.
    let both = plan::Clients { least: 1, most: 2 };
    let began = |event: &&Event| match event {
        Event::TrialBegan { clients, .. } | Event::LoadBegan { clients, .. } => *clients == both,
        _ => false,
    };
    assert_eq!(events.iter().filter(began).count(), 4, "two loads and two trials: {events:?}");
    let dops = |event: &Event| match event {
        Event::StepBegan { name, .. } if name.starts_with("read") => Some(name.contains("dop=1")),
        _ => None,
    };
    let dops: Vec<bool> = events.iter().filter_map(dops).collect();
    assert_eq!(dops, [true, true, false, false].repeat(2), "{events:?}");
    let experiment = store.latest().unwrap().unwrap().id;
    let steps = store.steps(experiment, Scope::Results).unwrap();
    let measured = steps.iter().filter(|step| step.kind == store::StepKind::Measured);
    let of_trial: Vec<_> = measured
        .filter(|step| step.block == 1)
        .take(4)
        .map(|step| {
            let StepKey { name, dop, labels } = &step.key;
            (&**name, *dop, labels.values().cloned().collect::<String>(), &*step.measure.class)
        })
        .collect();
    let reads = |dop, keys: &str| ("read", dop, keys.to_owned(), "get");
    let (uniform, zipfian) = ("uniform", "zipfian");
    assert_eq!(
        of_trial,
        [reads(1, uniform), reads(1, zipfian), reads(2, uniform), reads(2, zipfian)]
    );
    let between = steps.iter().filter(|step| step.kind == store::StepKind::Settle);
    let between: Vec<_> = between.map(|step| (&*step.key.name, step.key.dop)).collect();
    let loads = [("settle", 0), ("keep", 0)].repeat(2);
    assert_eq!(between, [loads, vec![("restore", 0); 2]].concat(), "no client is at work");
    // What the engine counted is what its clients did, on the data that was loaded once.
    for step in steps.iter().filter(|step| step.block > 0 && step.key.name == "read") {
        let gets = &store.counters(step.id).unwrap()[0];
        // Each client's last one may end after the step's time.
        let late = (gets.value as u64).checked_sub(step.operations);
        assert!(late.is_some_and(|late| late <= 10 * u64::from(step.key.dop)), "{late:?}");
        assert!((step.seconds - 1.0).abs() < 1e-9 && step.operations > 0);
        let metrics = store.metrics(step.id).unwrap();
        assert!(metrics["dbms.cpu/o"] > 0.0 && metrics["get.p50"] > 0.0, "{metrics:?}");
        let sizes = store.sizes(step.id).unwrap();
        assert!(sizes[0].name == "total" && sizes[0].bytes > 20_000, "{sizes:?}");
    }
    // Another program ran alongside the engine, which was counted and sized as for any step.
    let program = steps.iter().find(|step| step.key.name == "program").unwrap();
    let metrics = store.metrics(program.id).unwrap();
    assert!((metrics["o/s"] - 2000.0).abs() < 1e-9);
    assert!(metrics["client.cpu/o"] > 0.0, "the program's own CPU: {metrics:?}");
    let variants = store.variants(experiment).unwrap();
    let settings = store.variant_settings(variants[0].id).unwrap();
    assert_eq!(settings.iter().map(|s| &*s.value).collect::<Vec<_>>(), ["blue"]);
    // Results are judged by step, dop and labels.
    let results = report::load(&store, report::Which::Latest).unwrap();
    let judged = report::compare(&results, &report::CompareOptions::default()).unwrap();
    assert_eq!(judged.document.steps.len(), 6, "fill, two distributions at two dops, a program");
    // SQL is told apart.
    let sql = text.replace(
        "[workload.toy]\nrows = 500\nseconds = 1\ndop = [1, 2]\nprogram = true",
        "[workload.insert]",
    );
    let plan = Plan::parse(&sql.replace("restore_after = \"fill\"\n", ""), None, "test").unwrap();
    let mut options = Options::new(directory.path().join("none"), "test");
    options.allow_concurrent = true;
    let ledger = Ledger::open(directory.path().join("ledger")).unwrap();
    let systems = Toys(Installed(Cache::at(directory.path().join("cache")).unwrap()));
    let new = Resume::New(Box::new(plan));
    let refused = lab::run(new, &options, &systems, &ledger, &AtomicBool::new(false), &mut |_| ());
    let Err(error) = refused else { panic!("the toy took SQL") };
    assert!(error.to_string().contains("needs a system that accepts SQL"), "{error}");
}
