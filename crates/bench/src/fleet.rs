//! What many machines cost (`bench fleet`): the code behind `element`, `status`, `watch` and
//! `compare` on a submission whose elements were done by nobody. Only the scheduler and the
//! measurements are made up: every part is a copy of a real run, with the name of another machine
//! and other figures.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use archive::{Address, Archive, Requests};
use clap::Args;
use fleet::{
    Depot, Error, Growing, Job, Queued, Scheduler, Start, Started, Submission, Waits, Wishes, Work,
};
use plan::{Layer, Plan};
use report::{CompareOptions, Which};
use store::{ExperimentId, HostFact, Store};
use tempfile::TempDir;

use crate::measure::peak_memory;

const SECONDS_OF_DAY: f64 = 86_400.0;
/// How often `watch` looks.
const WATCH_SECONDS: f64 = 15.0;

/// What a submission with many machines costs: seconds, memory and requests
#[derive(Debug, Args)]
pub struct FleetArgs {
    /// Results of a real run with blocks, which every machine repeats
    #[arg(long, value_name = "DIRECTORY")]
    template: PathBuf,
    /// Elements of the submission, each on a machine of its own
    #[arg(long, default_value_t = 1000)]
    machines: u32,
    /// Elements a day, in submissions of that size
    #[arg(long, default_value_t = 100_000)]
    a_day: u32,
}

/// Measures each part in turn.
pub fn measure(args: &FleetArgs) -> Result<()> {
    let site = Site::new(args)?;
    println!("| {} elements | seconds | peak memory | lists | reads | writes |", args.machines);
    println!("|---|---:|---:|---:|---:|---:|");
    let half = args.machines / 2;
    let (first, element) = timed(|| site.deliver(1..=half))?;
    let per = |requests: u64| requests as f64 / f64::from(half);
    println!(
        "| an element: claim, part and its own look whether all are done | {:.3} | {} | {:.1} | \
         {:.1} | {:.1} |",
        first.seconds / f64::from(half),
        first.memory,
        per(element.lists),
        per(element.reads),
        per(element.writes)
    );
    row("`status`, half are done", || site.status(false))?;
    let depot = site.depot()?;
    let place = TempDir::new()?;
    let mut growing = Growing::new(&depot, place.path())?;
    row("`watch`, first look, half are done", || site.watch(&depot, &mut growing))?;
    site.deliver(half + 1..=half + 1)?;
    row("`watch`, another look, one more is done", || site.watch(&depot, &mut growing))?;
    site.deliver(half + 2..=args.machines)?;
    row("`status NAME`, all are done", || site.status(true))?;
    row("merging, by the last element", || site.conclude())?;
    row("`status`, all are done and merged", || site.all())?;
    let results = TempDir::new()?;
    row("`pull` of the merged experiment", || site.pull(results.path()))?;
    row("`compare` of it", || verdict(results.path()))?;
    let day = f64::from(args.a_day);
    let submissions = day / f64::from(args.machines);
    let of_elements = (element.lists + element.reads + element.writes) as f64 / f64::from(half);
    let merging = f64::from(args.machines) * 2.0;
    println!(
        "\n{day} elements a day in {submissions} submissions: {:.1} requests per second by \
         elements, {:.1} by merging, {:.1} by each `watch`",
        of_elements * day / SECONDS_OF_DAY,
        merging * submissions / SECONDS_OF_DAY,
        // Lists of four folders, and the claim and the part of what is new.
        (4.0 + 2.0 * day / SECONDS_OF_DAY * WATCH_SECONDS) / WATCH_SECONDS,
    );
    Ok(())
}

/// What a part took.
struct Took {
    seconds: f64,
    /// With its unit.
    memory: String,
}

/// Runs it and says how long it took, and the most memory that this process had meanwhile.
fn timed<T>(it: impl FnOnce() -> Result<T>) -> Result<(Took, T)> {
    // The peak begins anew (proc(5)).
    fs::write("/proc/self/clear_refs", "5").context("/proc/self/clear_refs")?;
    let begin = Instant::now();
    let done = it()?;
    let seconds = begin.elapsed().as_secs_f64();
    let memory = format!("{:.0} MiB", peak_memory("self")?);
    Ok((Took { seconds, memory }, done))
}

fn row(name: &str, it: impl FnOnce() -> Result<Requests>) -> Result<()> {
    let (took, Requests { lists, reads, writes }) = timed(it)?;
    println!("| {name} | {:.2} | {} | {lists} | {reads} | {writes} |", took.seconds, took.memory);
    Ok(())
}

/// The difference of two counts.
fn since(before: Requests, now: Requests) -> Requests {
    Requests {
        lists: now.lists - before.lists,
        reads: now.reads - before.reads,
        writes: now.writes - before.writes,
    }
}

/// A submission at an address, and the run that its machines repeat.
struct Site {
    folder: TempDir,
    template: Store,
    experiment: ExperimentId,
    elements: u32,
}

impl Site {
    fn new(args: &FleetArgs) -> Result<Self> {
        let template = Store::open_read_only(&args.template)?;
        let all = template.all_experiments()?;
        let [experiment] = &all[..] else {
            anyhow::bail!("{}: expected one experiment", args.template.display());
        };
        let plan = Plan::parse_with(&experiment.plan, None, "the template", &Layer::default())?;
        let how = (Wishes::default(), Vec::new());
        let (name, at) = ("scale".to_owned(), (store::now_ms(), 7));
        let submission =
            Submission::new(name, (&plan, Work::Run), args.machines, at, "bench", how)?;
        let experiment = experiment.id;
        let (folder, elements) = (TempDir::new()?, args.machines);
        let site = Self { folder, template, experiment, elements };
        Depot::create(&site.address()?, submission, &site.work())?;
        Ok(site)
    }

    fn address(&self) -> Result<Address> {
        Ok(format!("file://{}", self.folder.path().join("shared").display()).parse()?)
    }

    fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    /// As another process opens it.
    fn depot(&self) -> Result<Depot> {
        Ok(Depot::open(&self.address()?, "scale", &self.work())?)
    }

    fn archive(&self) -> Result<Archive> {
        Ok(Archive::open(&self.address()?, &self.work())?)
    }

    /// What these elements do besides measuring.
    fn deliver(&self, elements: std::ops::RangeInclusive<u32>) -> Result<Requests> {
        let mut sum = Requests::default();
        let archive = self.archive()?;
        for element in elements {
            let (place, started) = (TempDir::new()?, started(element));
            let part = self.part(place.path(), &started)?;
            let depot = self.depot()?;
            ensure!(depot.claim(element)?.is_none(), "element {element} is done already");
            depot.add_job(&Job { job: "1".to_owned(), elements: vec![element], at_ms: 0 })?;
            depot.add_start(&started)?;
            let mine =
                depot.deliver(&started, (&part.0, part.1), ("bench", &[]), store::now_ms())?;
            ensure!(mine, "element {element} was claimed by another");
            if element < self.elements {
                ensure!(!fleet::conclude(&depot, &archive, place.path())?, "it is not complete");
            }
            let Requests { lists, reads, writes } = depot.requests();
            sum.lists += lists;
            sum.reads += reads;
            sum.writes += writes;
        }
        Ok(sum)
    }

    /// The run of this start: the template's on another machine, with other figures.
    fn part(&self, place: &Path, started: &Started) -> Result<(Store, ExperimentId)> {
        let own = Store::open(place)?;
        let (_, id) = self.template.copy_experiment(self.experiment, &own, None)?.experiment;
        let mut facts = self.template.host_facts(self.experiment)?;
        facts.retain(|fact| fact.name != "node" && fact.name != "machine id");
        for name in ["node", "machine id"] {
            let (group, name) = ("system".to_owned(), name.to_owned());
            facts.push(HostFact { group, name, value: started.host.clone() });
        }
        own.record_host(id, &facts)?;
        let database = rusqlite::Connection::open(own.database())?;
        database
            .execute("UPDATE trial SET host_set_id = (SELECT host_set_id FROM experiment)", [])?;
        // Steps of up to 1% more or less, and others on other machines.
        database.execute(
            "UPDATE metric SET value = value * \
             (0.99 + 0.02 * ((step_id * 7919 + ?1 * 104729) % 1009) / 1008.0)",
            [started.start.element],
        )?;
        Ok((own, id))
    }

    /// `status`, as another process asks.
    fn status(&self, machines: bool) -> Result<Requests> {
        let depot = self.depot()?;
        let mut status = fleet::status(&depot, &All(self.elements), store::now_ms())?;
        if machines {
            status.name_machines(&depot)?;
        }
        Ok(depot.requests())
    }

    /// `status` without a name.
    fn all(&self) -> Result<Requests> {
        let all = Depot::all_named(&self.address()?, &self.work())?;
        ensure!(all.iter().all(|it| it.is_whole), "it is not merged");
        // Those two of the index.
        Ok(Requests { lists: 2, ..Requests::default() })
    }

    /// A look of `watch`.
    fn watch(&self, depot: &Depot, growing: &mut Growing<'_>) -> Result<Requests> {
        let before = depot.requests();
        fleet::status(depot, &All(self.elements), store::now_ms())?;
        growing.add(&depot.claims()?)?;
        let (store, experiment) = growing.experiment()?;
        compare(store, experiment)?;
        Ok(since(before, depot.requests()))
    }

    /// What the last element does.
    fn conclude(&self) -> Result<Requests> {
        let (depot, place) = (self.depot()?, TempDir::new()?);
        ensure!(fleet::conclude(&depot, &self.archive()?, place.path())?, "it is not complete");
        Ok(depot.requests())
    }

    fn pull(&self, results: &Path) -> Result<Requests> {
        let archive = self.archive()?;
        let all = archive.list()?;
        let [archived] = &all[..] else { anyhow::bail!("expected one, found {}", all.len()) };
        archive.pull(archived, results)?;
        // Its index, its entry, and itself.
        Ok(Requests { lists: 1, reads: 2, writes: 0 })
    }
}

fn verdict(results: &Path) -> Result<Requests> {
    let store = Store::open_read_only(results)?;
    let all = store.all_experiments()?;
    let experiment = all.first().context("there is no experiment")?.id;
    compare(&store, experiment)?;
    Ok(Requests::default())
}

fn compare(store: &Store, experiment: ExperimentId) -> Result<()> {
    let results = report::load(store, Which::Id(experiment))?;
    let comparison = report::compare(&results, &CompareOptions::default())?;
    let text = comparison.render(report::Format::Text)?;
    ensure!(text.contains("Machines"), "no table of machines:\n{text}");
    Ok(())
}

fn started(element: u32) -> Started {
    let start = Start { element, job: (1_000_000 + element).to_string(), restart: 0 };
    Started { start, host: format!("node{element}"), at_ms: store::now_ms() }
}

/// A scheduler that runs all elements from the first to this one.
struct All(u32);

impl Scheduler for All {
    fn submit(&self, _: &str) -> Result<String, Error> {
        Ok("1".to_owned())
    }

    fn queue(&self, _: &[Job]) -> Result<Vec<Queued>, Error> {
        let running = |element| {
            let waits = Waits::Not(format!("node{element}"));
            Queued { element, job: "1".to_owned(), waits }
        };
        Ok((1..=self.0).map(running).collect())
    }

    fn cancel(&self, _: &[Job]) -> Result<(), Error> {
        Ok(())
    }
}
