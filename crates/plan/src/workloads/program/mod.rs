//! Other people's programs as the load, any command line per step, in a plan:
//! `[workload.program]`.

mod plan;

use std::collections::BTreeSet;

use crate::family::{Family, PlannedStep, Sequence, SequenceKey};
use crate::key::{CommandOption, Form, Key, Keyed};
use crate::kind::{Kind, boolean, dops, string, whole};
use crate::problem::Problems;
use crate::section::printable;
use crate::step::StepKey;

pub use plan::{INIT, ProgramPlan, ProgramStep, Run};

#[rustfmt::skip] // A table.
const OPTIONS: [CommandOption; 7] = [
    CommandOption { key: "command", name: "command", value: "COMMAND", form: Form::Name,
        help: "The program and its arguments; {host}, {port}, {dop}, … are filled in" },
    CommandOption { key: "init", name: "init", value: "COMMAND", form: Form::Name,
        help: "What loads the data" },
    CommandOption { key: "parse", name: "parse", value: "FORMAT", form: Form::Name,
        help: "What its output is: pgbench, sysbench, fio, … [default: time]" },
    CommandOption { key: "unit", name: "unit", value: "UNIT", form: Form::Name,
        help: "What one operation is, or the unit of a cost [default: that of the format]" },
    CommandOption { key: "less_is_better", name: "less-is-better", value: "",
        form: Form::Switch("true"), help: "The figure is a cost" },
    CommandOption { key: "dop", name: "dop", value: "N,…", form: Form::Counts,
        help: "Numbers of clients, separated by commas [default: 1]" },
    CommandOption { key: "seconds", name: "seconds", value: "S", form: Form::Count,
        help: "What {seconds} stands for [default: 10]" },
];

/// A command line: something in it, no control characters.
pub(super) fn command() -> Kind<String> {
    checked(|text| match plan::words(text)? {
        words if words.is_empty() => Err("expected a program and its arguments".to_owned()),
        _ => Ok(()),
    })
}

/// A string with a check of its own.
fn checked(check: fn(&str) -> Result<(), String>) -> Kind<String> {
    string().and_then(move |text| check(&text).map(|()| text))
}

/// The name of a format that [`foreign`] reads, or `time`.
fn format() -> Kind<String> {
    checked(|text| match text {
        plan::TIME => Ok(()),
        _ => text.parse::<foreign::Format>().map(|_| ()).map_err(|error| error.to_string()),
    })
}

/// A name, as it appears in tables.
fn name() -> Kind<String> {
    checked(|text| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        match text.len() <= 64 && text.chars().all(plain) {
            true => Ok(()),
            false => Err(format!(
                "expected a name of letters, digits, `.`, `_` and `-`, found `{}`",
                printable(text)
            )),
        }
    })
}

/// The keys of a step; at the top of the section, they apply to all steps.
#[rustfmt::skip] // A table.
fn run_keys(run: &mut Run) -> Vec<Key<'_>> {
    vec![
        Key::optional("command", &mut run.command, command())
            .means("the program and its arguments"),
        Key::optional("parse", &mut run.parse, format()).usual("`\"time\"`")
            .means("what its output is: a [format](import.md#formats), or `time`, its duration in seconds"),
        Key::optional("test", &mut run.test, string()).usual("the step's name")
            .note("which one of several in its output")
                .means("which one to take if the output has several"),
        Key::optional("unit", &mut run.unit, string()).usual("from the format")
            .means("what an operation is, or the unit of a cost"),
        Key::optional("less_is_better", &mut run.less_is_better, boolean()).usual("from the format")
            .means("the figure is a cost, in this unit"),
        Key::optional("dop", &mut run.dop, dops()).usual("`[1]`").note("clients")
            .means("numbers of clients; the step runs with all of them"),
        Key::optional("seconds", &mut run.seconds, whole(1..10_000_001)).unit("s").usual("10")
            .means("what `{seconds}` stands for"),
        Key::optional("slice_seconds", &mut run.slice_seconds, whole(1..3601)).unit("s")
            .note("at a time, if all servers share the load").means("with [slices](#slices), run it for so many seconds at a time, on one server after another"),
    ]
}

impl Keyed for ProgramStep {
    fn keys(&mut self) -> Vec<Key<'_>> {
        let mut keys = vec![Key::new("name", &mut self.name, name()).means("in results")];
        keys.extend(run_keys(&mut self.run));
        keys
    }
}

impl Keyed for ProgramPlan {
    fn keys(&mut self) -> Vec<Key<'_>> {
        let init = Key::optional("init", &mut self.init, command()).note("loads the data");
        let mut keys = vec![init.means(
            "loads the data; the step `init`, whose figure is its time, then the server settles",
        )];
        keys.extend(run_keys(&mut self.all));
        let steps = Key::tables("steps", &mut self.steps).usual("one");
        keys.push(steps.means(
            "tables with a `name` and any of the other keys, which then hold for that step alone",
        ));
        keys
    }
}

impl Family for ProgramPlan {
    fn name(&self) -> &'static str {
        "program"
    }

    fn options(&self) -> &'static [CommandOption] {
        &OPTIONS
    }

    fn commands(&mut self) -> Vec<&mut String> {
        let runs = self.steps.iter_mut().map(|step| &mut step.run).chain([&mut self.all]);
        runs.filter_map(|run| run.command.as_mut()).chain(&mut self.init).collect()
    }

    fn check(&self, problems: &mut Problems) {
        let mut names = BTreeSet::new();
        for step in self.runs() {
            let of = |key: &str| format!("workload.program.{key}");
            if step.name == INIT && self.init.is_some() || !names.insert(step.name.clone()) {
                let message = format!("two steps are called `{}`; names must differ", step.name);
                problems.of(&of("steps"), message);
            }
            if step.run.slice_seconds.is_some() && !step.run.is_timed() {
                let message = format!(
                    "`slice_seconds`: step `{}` can't run for a part of its time; its command has \
                     no {{seconds}}",
                    step.name
                );
                problems.of(&of("slice_seconds"), message);
            }
            if step.run.dops().len() > 1 && !step.run.mentions("{dop}") {
                let message = format!(
                    "`dop`: step `{}` would do the same for each number of clients; its command \
                     has no {{dop}}",
                    step.name
                );
                problems.of(&of("dop"), message);
            }
            if step.run.command.is_none() {
                let message = format!(
                    "step `{}` has no `command`; add the program and its arguments, such as \
                     command = \"pgbench -S -T {{seconds}} -c {{dop}}\"",
                    step.name
                );
                problems.of(&of("command"), message);
            }
        }
    }

    fn has_statements(&self) -> bool {
        false
    }

    /// One: each step runs with all numbers of clients, one after another, before the next.
    fn sequences(&self) -> Vec<Sequence> {
        let mut steps = Vec::new();
        let step = |name: &str, dop: u32, timed: bool| PlannedStep {
            key: StepKey::new(name, dop),
            timed,
            ..PlannedStep::default()
        };
        steps.extend(self.init.iter().map(|_| step(INIT, 1, false)));
        for ProgramStep { name, run } in self.runs() {
            let timed = run.is_timed();
            steps.extend(run.dops().iter().map(|dop| step(&name, *dop, timed)));
        }
        vec![Sequence { key: SequenceKey::ONLY, steps }]
    }

    /// To have its time judged, it can be one of the steps.
    fn prepares(&self) -> Vec<String> {
        self.init.iter().map(|_| INIT.to_owned()).collect()
    }

    fn clear_steps(&mut self) {
        self.all.dop = None;
        self.steps.iter_mut().for_each(|step| step.run.dop = None);
    }

    fn seconds(&mut self) -> Vec<&mut u32> {
        if !self.runs().iter().any(|step| step.run.is_timed()) {
            return Vec::new();
        }
        let own = self.steps.iter_mut().filter_map(|step| step.run.seconds.as_mut());
        let all = self.all.seconds.get_or_insert(plan::SECONDS);
        own.chain([all]).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::{Plan, WorkloadPlan};

    fn parsed(section: &str) -> Result<Plan, crate::PlanError> {
        let text = format!("[variants.a]\ndbms = \"postgres@18.1\"\n[workload.program]\n{section}");
        Plan::parse(&text, None, "test")
    }

    const TWO: &str = "init = \"pgbench -i -s {scale}\"\nparse = \"pgbench\"\ndop = [1, 4]\n\
        [[workload.program.steps]]\nname = \"select\"\ncommand = \"pgbench -S -c {dop} -T {seconds}\"\n\
        [[workload.program.steps]]\nname = \"once\"\ncommand = \"true 'a b'\"\nparse = \"time\"\n\
        dop = [2]\n";

    #[test]
    fn what_is_written_says_the_same() {
        let plan = parsed(TWO).unwrap();
        let written = Plan::parse(&plan.to_toml(), None, "written").unwrap();
        assert_eq!(written.workload, plan.workload, "{}", plan.to_toml());
        let [sequence] = &plan.workload.sequences()[..] else { panic!("one system for all") };
        let steps: Vec<_> =
            sequence.steps.iter().map(|s| (&*s.key.name, s.key.dop, s.timed)).collect();
        assert_eq!(
            steps,
            [("init", 1, false), ("select", 1, true), ("select", 4, true), ("once", 2, false)]
        );
        let WorkloadPlan::Program(program) = &plan.workload else { panic!("{plan:?}") };
        assert_eq!(program.runs()[1].run.words(), ["true", "a b"]);
    }

    #[test]
    fn one_command_is_one_step() {
        let plan = parsed("command = \"sysbench cpu run --time={seconds}\"\n").unwrap();
        let steps = &plan.workload.sequences()[0].steps;
        assert_eq!((steps.len(), &*steps[0].key.name, steps[0].timed), (1, "sysbench", true));
    }

    #[test]
    fn mistakes_are_told() {
        for (section, message) in [
            ("dop = 1", "has no `command`"),
            ("command = \" \"", "expected a program"),
            ("command = \"a 'b\"", "a quote is not closed"),
            ("command = \"a\"\nparse = \"pgbnch\"", "pgbench"),
            ("command = \"a\"\ncomand = \"b\"", "did you mean `command`?"),
            ("[[workload.program.steps]]\nname = \"a b\"\ncommand = \"c\"", "letters, digits"),
            ("command = \"c\"\nsteps = [{ name = \"a\" }, { name = \"a\" }]", "two steps"),
            ("command = \"c\"\nsteps = [{ nam = \"a\" }]", "did you mean `name`?"),
            ("command = \"c\"\nsteps = 5", "expected a list of tables"),
            ("command = \"c\"\nslice_seconds = 1", "no {seconds}"),
            ("command = \"c\"\ndop = [1, 2]", "no {dop}"),
        ] {
            let error = parsed(section).unwrap_err().to_string();
            assert!(error.contains(message), "{section}: {error}");
        }
    }
}
