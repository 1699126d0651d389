//! How long documents take in a store as a team has it after three years: 1,000,000 step results.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use serve::{Answer, Service};
use site::{Directory, Renewed};
use store::Store;

use crate::common::{Size, fill};

/// 2,000 experiments of 480 step results on 12 machines.
const YEARS: Size = Size {
    experiments: 2_000,
    machines: 12,
    steps: &["l.i0", "l.x", "l.i1", "l.i2", "qr100", "qp100", "qr500", "qp500", "qr1000", "qp1000"],
    dops: &[1, 4, 8, 16],
    blocks: 6,
    seconds: 10,
};

/// The store is kept in this directory from one run to the next, if the variable is set.
const KEPT: &str = "STEELYARD_SCALE";

fn milliseconds(times: &mut [Duration], share: f64) -> f64 {
    times.sort();
    let place = ((times.len() as f64 * share).ceil() as usize).clamp(1, times.len());
    times[place - 1].as_secs_f64() * 1000.0
}

/// Resident memory of this process in MB.
fn memory() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<f64>().unwrap() / 1024.0
}

#[test]
#[ignore = "a bound: make bench"]
fn a_million_step_results() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = std::env::var_os(KEPT).map_or_else(|| temporary.path().to_owned(), PathBuf::from);
    let results = folder.join("results");
    let begin = Instant::now();
    if !results.exists() {
        fill(&results, &YEARS, 0);
        println!("made the store in {:.0} s", begin.elapsed().as_secs_f64());
    }
    let open = || Store::open_read_only(&results).unwrap();
    let kept = folder.join("kept.json");
    let begin = Instant::now();
    drop(Service::open(open(), Some(&kept)).unwrap());
    println!("first start of a service: {:.2} s", begin.elapsed().as_secs_f64());
    let begin = Instant::now();
    let service = Service::open(open(), Some(&kept)).unwrap();
    println!("next start: {:.2} s, {:.0} MB", begin.elapsed().as_secs_f64(), memory());

    let paths = service.paths();
    let groups =
        ["overview", "experiments.json", "machines", "history.json", "experiments/", "history/"];
    for group in groups {
        let of_group = paths.iter().filter(|path| path.starts_with(&format!("api/v1/{group}")));
        let of_group: Vec<&String> = of_group.collect();
        let stride = of_group.len().div_ceil(60).max(1);
        let (mut first, mut again, mut largest) = (Vec::new(), Vec::new(), 0);
        for path in of_group.iter().step_by(stride) {
            for times in [&mut first, &mut again] {
                let begin = Instant::now();
                let answer = service.answer(path, |_| false).unwrap();
                times.push(begin.elapsed());
                let Answer::Document { content, .. } = answer else { panic!("{path}") };
                largest = largest.max(content.len());
            }
        }
        println!(
            "{group}: {} documents, p95 {:.1} ms, median {:.1} ms, again p95 {:.2} ms, at most {} KB; {:.0} MB",
            of_group.len(),
            milliseconds(&mut first, 0.95),
            milliseconds(&mut first, 0.5),
            milliseconds(&mut again, 0.95),
            largest / 1024,
            memory(),
        );
    }
    drop(service);

    let place = Directory::open(&folder.join("site")).unwrap();
    let renew = |what: &str| {
        let begin = Instant::now();
        let Renewed { written, bytes, .. } = site::renew(&open(), &place, |_, _| {}).unwrap();
        let seconds = begin.elapsed().as_secs_f64();
        println!("site, {what}: {seconds:.2} s, {written} files, {} KB", bytes / 1024);
    };
    renew("written");
    renew("nothing new");
    let count = open().all_experiments().unwrap().len();
    fill(&results, &Size { experiments: count + 1, ..YEARS }, count);
    renew("one new experiment");
}
