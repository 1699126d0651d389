//! Storage measured with fio in a plan: `[workload.storage]`.

use serde_json::json;

use crate::family::{Family, NamedFile, PlannedStep, Sequence, SequenceKey};
use crate::key::{CommandOption, Form, Key, Keyed, StepNames};
use crate::kind::{Kind, dops, string};
use crate::problem::Problems;
use crate::step::StepKey;

/// The step that runs a job file.
pub const JOB: &str = "job";

/// The steps, in their order: random reads of 4 KB and of 1 MB, writes, then both mixed. The two
/// that only read come first, because a device allows no others.
const KNOWN: [&str; 6] =
    ["randread.4k", "randread.1m", "randwrite.4k", "seqwrite.1m", "randrw.4k", JOB];
const NAMES: StepNames = StepNames { known: &KNOWN, aliases: &[], suffixes: false };

#[rustfmt::skip] // A table.
const OPTIONS: [CommandOption; 5] = [
    CommandOption { key: "size", name: "size", value: "SIZE", form: Form::Name,
        help: "Bytes of each job's file [default: 1GB]" },
    CommandOption { key: "steps", name: "steps", value: "STEP,…", form: Form::Names,
        help: "Steps in order, separated by commas [default: all five]" },
    CommandOption { key: "dop", name: "dop", value: "N,…", form: Form::Counts,
        help: "Numbers of jobs, separated by commas [default: 8]" },
    CommandOption { key: "seconds", name: "seconds", value: "S", form: Form::Count,
        help: "Seconds of each step [default: 60]" },
    CommandOption { key: "job_file", name: "job-file", value: "FILE", form: Form::Name,
        help: "A job file of fio, for the step `job`" },
];

/// fio on a directory or a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoragePlan {
    /// Bytes of each job's file.
    pub size: Option<u64>,
    /// Numbers of jobs, each 1 to 10000, without repetition.
    pub dop: Vec<u32>,
    /// Steps in the order in which they run.
    pub steps: Vec<String>,
    /// Seconds of each step.
    pub seconds: u32,
    /// Requests of each job that are under way at a time in the steps with blocks of 4 KB.
    pub iodepth: u32,
    /// fio's engine.
    pub ioengine: String,
    /// Name of a job file, as written in the plan.
    pub job_file: Option<String>,
    /// Its text.
    pub job_text: Option<String>,
}

impl Default for StoragePlan {
    /// All steps, 8 jobs with 1 GB each, 60 s, 256 requests at a time.
    fn default() -> Self {
        StoragePlan {
            size: Some(1 << 30),
            dop: vec![8],
            steps: KNOWN.iter().filter(|step| **step != JOB).map(ToString::to_string).collect(),
            seconds: 60,
            iodepth: 256,
            ioengine: "libaio".to_owned(),
            job_file: None,
            job_text: None,
        }
    }
}

impl Keyed for StoragePlan {
    #[rustfmt::skip] // A table.
    fn keys(&mut self) -> Vec<Key<'_>> {
        vec![
            Key::size("size", &mut self.size).note("of each job's file")
                .means("size of each job's file; they are written before the first step"),
            Key::new("dop", &mut self.dop, dops()).note("jobs")
                .means("numbers of jobs"),
            Key::steps(&mut self.steps, NAMES).usual("all five")
                .means("the steps to run: those below, and `job`"),
            Key::whole("seconds", &mut self.seconds, 1..10_000_001).unit("s").note("per step")
                .means("duration of each step"),
            Key::whole("iodepth", &mut self.iodepth, 1..65_536)
                .note("requests under way per job, in steps with blocks of 4 KB")
                .means("requests that each job keeps in flight, in the steps marked *"),
            Key::new("ioengine", &mut self.ioengine, word()).note("fio's engine"),
            Key::optional("job_file", &mut self.job_file, string())
                .note("its text follows; the file is not read again")
                .means("a job file of fio, relative to the plan, run by the step `job`"),
            Key::optional("job_text", &mut self.job_text, string()).usual("that of `job_file`")
                .means("a job file of fio"),
        ]
    }
}

/// A name that needs no quotes.
fn word() -> Kind<String> {
    let words = string().described(json!({ "type": "string", "pattern": "^[A-Za-z0-9_-]+$" }));
    words.and_then(|text| {
        match text.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c)) {
            true => Ok(text),
            false => {
                Err(format!("expected a name such as \"libaio\", found `{}`", text.escape_debug()))
            }
        }
    })
}

impl Family for StoragePlan {
    fn name(&self) -> &'static str {
        "storage"
    }

    fn options(&self) -> &'static [CommandOption] {
        &OPTIONS
    }

    fn files(&mut self) -> Vec<NamedFile<'_>> {
        let keys = ("job_file", "job_text");
        vec![NamedFile { keys, file: &self.job_file, text: &mut self.job_text }]
    }

    fn check(&self, problems: &mut Problems) {
        let has_job = self.steps.iter().any(|step| step == JOB);
        if has_job != (self.job_file.is_some() || self.job_text.is_some()) {
            let message = match has_job {
                true => "the step `job` needs `job_file`; name a job file of fio",
                false => "`job_file` without the step `job`; add it to `steps`, or remove the file",
            };
            problems.of("workload.storage.job_file", message);
        }
    }

    fn has_statements(&self) -> bool {
        false
    }

    /// One: each step runs with all numbers of jobs, one after another, before the next.
    fn sequences(&self) -> Vec<Sequence> {
        let step = |name: &String, dop: u32| PlannedStep {
            key: StepKey::new(name, dop),
            timed: name != JOB,
            group: if only_reads(name) { "reads" } else { "writes" },
            ..PlannedStep::default()
        };
        let dops = |name: &str| if name == JOB { &[1][..] } else { &self.dop[..] };
        let steps = self.steps.iter();
        let steps = steps.flat_map(|name| dops(name).iter().map(move |dop| step(name, *dop)));
        vec![Sequence { key: SequenceKey::ONLY, steps: steps.collect() }]
    }

    fn clear_steps(&mut self) {
        self.steps.clear();
        self.dop.clear();
    }

    fn seconds(&mut self) -> Vec<&mut u32> {
        vec![&mut self.seconds]
    }
}

/// True if a step writes nothing.
fn only_reads(step: &str) -> bool {
    step.starts_with("randread")
}

#[cfg(test)]
mod tests {
    use crate::{Plan, PlanError, WorkloadPlan};

    fn parsed(section: &str) -> Result<Plan, PlanError> {
        let text = format!("[variants.a]\ndbms = \"none\"\n[workload.storage]\n{section}");
        Plan::parse(&text, None, "test")
    }

    #[test]
    fn what_is_written_says_the_same() {
        let section = "size = \"64MB\"\ndop = [1, 8]\nseconds = 5\nioengine = \"psync\"\n\
                       steps = [\"seqwrite.1m\", \"job\"]\njob_text = \"[a]\\nrw=read\\n\"";
        let plan = parsed(section).unwrap();
        let WorkloadPlan::Storage(storage) = &plan.workload else { panic!("{plan:?}") };
        assert_eq!((storage.size, storage.iodepth), (Some(64 << 20), 256));
        let written = Plan::parse(&plan.to_toml(), None, "written").unwrap();
        assert_eq!(written.workload, plan.workload);
        let steps = &plan.workload.sequences()[0].steps;
        let steps: Vec<_> = steps.iter().map(|s| (&*s.key.name, s.key.dop, s.timed)).collect();
        assert_eq!(steps, [("seqwrite.1m", 1, true), ("seqwrite.1m", 8, true), ("job", 1, false)]);
    }

    #[test]
    fn mistakes_are_told() {
        for (section, message) in [
            ("steps = [\"job\"]", "needs `job_file`"),
            ("job_text = \"x\"", "without the step `job`"),
            ("steps = [\"job\"]\njob_file = \"x.fio\"", "has no folder"),
            ("steps = [\"randread.4\"]", "did you mean `randread.4k`?"),
            ("ioengine = \"lib aio\"", "such as \"libaio\""),
            ("size = \"big\"", "is not a size"),
        ] {
            let error = parsed(section).unwrap_err().to_string();
            assert!(error.contains(message), "{section}: {error}");
        }
    }
}
