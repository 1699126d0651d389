//! Storage measured with fio: `[workload.storage]` of a plan.

use plan::{JOB, StoragePlan, WorkloadPlan};

use crate::command::{Output, Program};
use crate::phase::{Benchmark, Phase};
use crate::program::OPERATION;
use crate::step::Step;
use crate::{Dialect, Error};

/// The benchmark of a plan.
///
/// # Errors
/// [`Error::Unfit`] with a DBMS, and for steps that write to a device.
pub fn benchmark(plan: &StoragePlan, dialect: Dialect) -> Result<Benchmark, Error> {
    let device = match dialect {
        Dialect::Files => false,
        Dialect::Device => true,
        _ => return Err(Error::Unfit { workload: "storage", needs: "files (dbms = \"none\")" }),
    };
    let mut phases = Vec::new();
    let planned = WorkloadPlan::Storage(plan.clone()).sequences();
    for planned in planned.into_iter().flat_map(|sequence| sequence.steps) {
        let request = Request::of(&planned.key.name);
        if device && !request.as_ref().is_some_and(|request| request.only_reads()) {
            return Err(Error::DeviceWritten { step: planned.key.name });
        }
        let mut step = Step::new(&planned.key.name, planned.key.dop, OPERATION, Vec::new());
        step.unit = "requests".into();
        step.seconds = planned.timed.then(|| f64::from(plan.seconds));
        let parse = Some("fio".to_owned());
        let mut program = Program::new(step, Vec::new());
        program.output = Output { parse, test: None };
        program.command = match &request {
            Some(request) => request.command(plan, device, planned.key.dop, &planned.key.name),
            // A report for each second can't be told from the last one if a job has no runtime.
            None => ["fio", OUTPUT, "-"].map(str::to_owned).into(),
        };
        if planned.key.name == JOB {
            program.input = plan.job_text.clone().unwrap_or_default();
        }
        phases.push(program);
    }
    // Files have to be written before they can be read.
    let most = phases.iter().map(|program| program.step.key.dop).max().unwrap_or(1);
    if let Some(first) =
        phases.first_mut().filter(|_| !device && plan.steps.iter().any(|s| s != JOB))
    {
        first.prepare = Request::LAYOUT.command(plan, device, most, "layout");
    }
    let phases = phases.into_iter().map(Phase::Program).collect();
    let (setup, tables, config) = Default::default();
    Ok(Benchmark { setup, teardown: Vec::new(), tables, phases, config })
}

/// The format of fio's output.
const OUTPUT: &str = "--output-format=json";

fn fio(arguments: &[&str]) -> Vec<String> {
    let first = ["fio", OUTPUT, "--status-interval=1"];
    first.iter().chain(arguments).map(|word| (*word).to_owned()).collect()
}

/// The options of a fio test.
struct Request {
    rw: &'static str,
    block: &'static str,
    /// True if several are under way at a time.
    deep: bool,
    /// Further options.
    more: &'static [&'static str],
}

impl Request {
    /// Writes each file once.
    const LAYOUT: Request =
        Request { rw: "write", block: "1m", deep: false, more: &["--end_fsync=1"] };

    /// The steps.
    fn of(step: &str) -> Option<Request> {
        let request = |rw, block, deep, more| Some(Request { rw, block, deep, more });
        match step {
            "randread.4k" => request("randread", "4k", true, &[]),
            "randread.1m" => request("randread", "1m", false, &[]),
            "randwrite.4k" => request("randwrite", "4k", false, &["--fsync=1"]),
            "seqwrite.1m" => request("write", "1m", false, &["--end_fsync=1"]),
            "randrw.4k" => request("randrw", "4k", true, &["--rwmixread=70"]),
            _ => None,
        }
    }

    fn only_reads(&self) -> bool {
        self.rw == "randread"
    }

    /// With direct I/O and as many jobs as `dop`, each with a file of its own, or all on the
    /// device.
    fn command(&self, plan: &StoragePlan, device: bool, dop: u32, name: &str) -> Vec<String> {
        let Request { rw, block, deep, more } = self;
        let depth = if *deep { plan.iodepth } else { 1 };
        let mut words = fio(&[
            &format!("--name={name}"),
            &format!("--rw={rw}"),
            &format!("--bs={block}"),
            &format!("--iodepth={depth}"),
            &format!("--ioengine={}", plan.ioengine),
            &format!("--numjobs={dop}"),
            "--direct=1",
            "--group_reporting",
        ]);
        words.extend(more.iter().map(|word| (*word).to_owned()));
        if self.only_reads() {
            words.push("--readonly".to_owned());
        }
        if name != "layout" {
            words.extend(["--time_based", "--runtime={seconds}"].map(str::to_owned));
        }
        if device {
            words.push("--filename={device}".to_owned());
        } else {
            let size = plan.size.unwrap_or(1 << 30);
            words.extend([
                "--directory={data}".to_owned(),
                "--filename_format=steelyard.$jobnum".to_owned(),
                format!("--size={size}"),
            ]);
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> StoragePlan {
        StoragePlan { dop: vec![1, 4], ..StoragePlan::default() }
    }

    #[test]
    fn the_published_commands_are_the_first_steps() {
        let benchmark = benchmark(&plan(), Dialect::Files).unwrap();
        let Phase::Program(first) = &benchmark.phases[0] else { panic!("{benchmark:?}") };
        for word in ["--rw=randread", "--bs=4k", "--iodepth=256", "--numjobs=1", "--direct=1"] {
            assert!(first.command.iter().any(|found| found == word), "{:?}", first.command);
        }
        assert!(first.prepare.contains(&"--numjobs=4".to_owned()), "a file for each job");
        let planned = WorkloadPlan::Storage(plan()).sequences().remove(0).steps;
        assert_eq!(planned.len(), benchmark.phases.len());
    }

    #[test]
    fn a_device_is_only_read() {
        let refused = benchmark(&plan(), Dialect::Device);
        assert_eq!(refused, Err(Error::DeviceWritten { step: "randwrite.4k".to_owned() }));
        let steps = ["randread.4k", "randread.1m"].map(str::to_owned).into();
        let reads = benchmark(&StoragePlan { steps, ..plan() }, Dialect::Device).unwrap();
        for phase in reads.phases {
            let Phase::Program(program) = phase else { panic!("{phase:?}") };
            assert!(program.prepare.is_empty());
            for word in ["--readonly", "--filename={device}"] {
                assert!(program.command.iter().any(|found| found == word), "{:?}", program.command);
            }
        }
        assert!(matches!(benchmark(&plan(), Dialect::postgres(15)), Err(Error::Unfit { .. })));
    }
}
