//! pgbench scripts in a plan: `[workload.script]`.

mod plan;

use script::Weighted;
use serde_json::json;

use crate::family::{Family, NamedFile, PlannedStep, Sequence, SequenceKey};
use crate::key::{CommandOption, Form, Key, Keyed, StepNames};
use crate::kind::{Kind, number, one_or_more, setting, string, table, text};
use crate::problem::Problems;
use crate::step::{Labels, StepKey};
use crate::workloads::select::{PROTOCOLS, clients, several};

pub use plan::{ScriptPlan, Source};

/// From this scale on the rest after settling is as long as the benchmark says.
const FULL_REST_SCALE: f64 = 1000.0;
/// The id of a row is an `integer`.
const MOST_SCALE: u64 = (1 << 31) / 100_000;
/// The letters of `pgbench -i -I`.
const INIT: &str = "dtgGvpf";

#[rustfmt::skip] // A table.
const OPTIONS: [CommandOption; 10] = [
    CommandOption { key: "file", name: "file", value: "FILE[@W],…", form: Form::Names,
        help: "pgbench scripts, each with a weight" },
    CommandOption { key: "builtin", name: "builtin", value: "NAME[@W],…", form: Form::Names,
        help: "Scripts that come with pgbench: tpcb-like, simple-update, select-only" },
    CommandOption { key: "clients", name: "clients", value: "N,…", form: Form::Names,
        help: "Numbers of clients: 1,2,4 or 1..16 [default: 1]" },
    CommandOption { key: "protocol", name: "protocol", value: "NAME,…", form: Form::Names,
        help: "How statements are sent: simple, extended, prepared [default: prepared]" },
    CommandOption { key: "seconds", name: "seconds", value: "S", form: Form::Count,
        help: "Seconds of each step [default: 10]" },
    CommandOption { key: "rate", name: "rate", value: "TPS", form: Form::Count,
        help: "Transactions per second of all clients together [default: as many as they can]" },
    CommandOption { key: "scale", name: "scale", value: "N", form: Form::Count,
        help: "Scale of pgbench's tables [default: 50]" },
    CommandOption { key: "init", name: "init", value: "STEPS", form: Form::Name,
        help: "Steps of pgbench -i that make its tables, of dtgGvpf [default: dtgvp]" },
    CommandOption { key: "steps", name: "steps", value: "STEP,…", form: Form::Names,
        help: "Steps to judge, such as load,script [default: script]" },
    CommandOption { key: "setup_file", name: "setup-file", value: "FILE", form: Form::Name,
        help: "SQL that makes other tables" },
];

/// The steps that can be judged.
const NAMES: StepNames = StepNames {
    known: &[
        ScriptPlan::LOAD,
        ScriptPlan::VACUUM,
        ScriptPlan::PRIMARY_KEYS,
        ScriptPlan::FOREIGN_KEYS,
        ScriptPlan::SCRIPT,
    ],
    aliases: &[],
    suffixes: false,
};

impl Keyed for ScriptPlan {
    #[rustfmt::skip] // A table.
    fn keys(&mut self) -> Vec<Key<'_>> {
        // As they are written again.
        for source in &self.sources {
            let name = source.name.clone().unwrap_or_default();
            let name = format!("{name}@{}", source.weight);
            if source.built_in {
                self.builtin.push(name);
            } else {
                self.files.push(name);
                self.texts.extend(source.text.clone());
            }
        }
        let files = !self.files.is_empty();
        let builtin = !self.builtin.is_empty();
        let define = !self.define.is_empty();
        let rate = number(1e-3..=1e9, "a rate above 0");
        let limit = number(1e-3..=1e9, "milliseconds above 0");
        vec![
            Key::new("file", &mut self.files, one_or_more(string())).written(files)
                .note("scripts and weights; their texts follow, and are not read again")
                .means("scripts, each with a weight after `@` (1); the paths are relative to the plan"),
            Key::new("texts", &mut self.texts, one_or_more(text())).written(files)
                .usual("those of `file`").means("the texts of the scripts"),
            Key::new("builtin", &mut self.builtin, one_or_more(string())).written(builtin)
                .means("`tpcb-like`, `simple-update`, `select-only`, each with a weight"),
            Key::new("clients", &mut self.clients, clients())
                .means("numbers of clients, each on a server of its own in every block"),
            Key::new("protocol", &mut self.protocol, several(&PROTOCOLS))
                .note("simple, extended or prepared").means("`simple`, `extended`, `prepared`; several run one after another"),
            Key::whole("seconds", &mut self.seconds, 1..10_000_001).unit("s")
                .means("duration of each step"),
            Key::whole("warm_seconds", &mut self.warm_seconds, 0..10_000_001).unit("s")
                .note("before they count").means("duration of `script.warm`, before them"),
            Key::optional("rate", &mut self.rate, rate).note("transactions per second of all clients")
                .means("transactions per second of all clients together"),
            Key::whole("max_tries", &mut self.max_tries, 0..1_000_001)
                .note("of a transaction; 0: until it succeeds")
                .means("tries of a transaction in all; 0: until it succeeds"),
            Key::optional("latency_limit", &mut self.latency_limit, limit).unit("ms")
                .note("milliseconds")
                .means("milliseconds; transactions that take longer are counted; with a `rate`, \
                        those that would begin this late are skipped"),
            Key::new("define", &mut self.define, table(setting(), "{ rows = 10 }")).written(define)
                .means("variables: `{ rows = 10 }`, as `-D`"),
            Key::new("init", &mut self.init, init()).note("steps of pgbench -i")
                .means("steps of `pgbench -i` that make its tables; `\"\"` if they exist"),
            Key::steps(&mut self.steps, NAMES).note("that are judged")
                .means("the steps to judge; those of `init` before the first of them are only [loaded](#loading-once)"),
            Key::whole("scale", &mut self.scale, 1..MOST_SCALE + 1).note("of pgbench's tables")
                .means("size of these tables, and `:scale`"),
            Key::optional("setup_file", &mut self.setup_file, string())
                .note("its text follows; the file is not read again")
                .means("SQL that makes other tables; `init` is then `\"\"` unless given"),
            Key::optional("setup_text", &mut self.setup_text, text()).usual("that of `setup_file`")
                .means("the SQL"),
        ]
    }
}

/// Steps of `pgbench -i`.
fn init() -> Kind<String> {
    let letters = text().described(json!({ "type": "string", "pattern": format!("^[{INIT}]*$") }));
    letters.and_then(|text| match text.chars().find(|letter| !INIT.contains(*letter)) {
        Some(letter) => Err(format!("expected letters of `{INIT}`, found {letter:?}")),
        None => Ok(text),
    })
}

impl Family for ScriptPlan {
    fn name(&self) -> &'static str {
        "script"
    }

    fn options(&self) -> &'static [CommandOption] {
        &OPTIONS
    }

    fn short_file(&self) -> Option<(&'static str, &'static str)> {
        Some(("sql", "file"))
    }

    fn complete(&mut self, given: &dyn Fn(&str) -> bool) {
        let mut texts = std::mem::take(&mut self.texts).into_iter();
        let source = |written: String, built_in: bool, text: Option<String>| {
            let weighted = written.parse::<Weighted>();
            let (name, weight) =
                weighted.map_or((written, 1), |weighted| (weighted.name, weighted.weight));
            let known = script::built_in(&name).ok().filter(|_| built_in);
            let text = known.map(|script| script.text.to_owned()).or(text);
            let name = known.map_or(name, |script| script.name.to_owned());
            Source { name: Some(name), weight, built_in, text }
        };
        for file in std::mem::take(&mut self.files) {
            let text = texts.next();
            self.sources.push(source(file, false, text));
        }
        for name in std::mem::take(&mut self.builtin) {
            self.sources.push(source(name, true, None));
        }
        if given("setup_file") && !given("init") {
            self.init.clear();
        }
    }

    fn shorten(&mut self, _given: &dyn Fn(&str) -> bool) -> f64 {
        (self.scale as f64 / FULL_REST_SCALE).clamp(0.02, 1.0)
    }

    fn files(&mut self) -> Vec<NamedFile<'_>> {
        let setup = NamedFile {
            keys: ("setup_file", "setup_text"),
            file: &self.setup_file,
            text: &mut self.setup_text,
        };
        let scripts = self.sources.iter_mut().filter(|source| !source.built_in);
        let mut files = vec![setup];
        for Source { name, text, .. } in scripts {
            files.push(NamedFile { keys: ("file", "texts"), file: name, text });
        }
        files
    }

    fn check(&self, problems: &mut Problems) {
        if problems.is_unread("workload") {
            return;
        }
        if self.sources.is_empty() {
            let message = "no script; add file = \"x.sql\", or builtin = \"tpcb-like\"";
            problems.of("workload.script", message);
        }
        for source in self.sources.iter().filter(|source| source.built_in) {
            let name = source.name.as_deref().unwrap_or_default();
            if let Err(error) = script::built_in(name) {
                problems.of("workload.script.builtin", error.to_string());
            }
        }
        if self.sources.iter().all(|source| source.weight == 0) && !self.sources.is_empty() {
            problems.of("workload.script.file", "all weights are 0; give one script a weight");
        }
        if self.sources.iter().all(|source| source.text.is_some())
            && let Err(error) = self.parsed()
        {
            problems.of("workload.script.file", error.to_string());
        }
        if self.init.contains(['g', 'G', 'v', 'p', 'f']) && !self.init.contains('t') {
            let message = "`init` fills tables that it does not make; add `t` before, or set it to \
                           \"\" if they exist";
            problems.of("workload.script.init", message);
        }
        let made = |step: &str| self.init.chars().any(|it| ScriptPlan::init_step(it) == Some(step));
        for step in self.steps.iter().filter(|step| *step != Self::SCRIPT && !made(step)) {
            let message = format!("`steps`: `{step}` does not run; add its letter to `init`");
            problems.of(&format!("steps.{step}"), message);
        }
        if !self.steps.iter().any(|step| step == Self::SCRIPT) {
            problems.of("workload.script.steps", "`steps` without `script`; add it");
        }
    }

    fn prepares(&self) -> Vec<String> {
        let made = self.init.chars().filter_map(ScriptPlan::init_step).map(str::to_owned);
        made.take_while(|step| !self.steps.contains(step)).collect()
    }

    /// One for each number of clients: what scripts change would be there for the next.
    fn sequences(&self) -> Vec<Sequence> {
        let step = |name: &str, dop: u32, labels: Labels| PlannedStep {
            key: StepKey { name: name.to_owned(), dop, labels },
            timed: name == Self::SCRIPT || name == Self::WARM,
            warm_up: name == Self::WARM,
            ..PlannedStep::default()
        };
        let several = self.protocol != ScriptPlan::default().protocol;
        let sequence = |&clients: &u32| {
            let letters = self.init.chars().filter_map(ScriptPlan::init_step);
            let mut steps: Vec<_> = letters.map(|name| step(name, 1, Labels::new())).collect();
            if self.warm_seconds > 0 {
                steps.push(step(Self::WARM, clients, Labels::new()));
            }
            for protocol in &self.protocol {
                let label = ("protocol".to_owned(), protocol.as_str().to_owned());
                let labels = several.then_some(label).into_iter().collect();
                steps.push(step(Self::SCRIPT, clients, labels));
            }
            Sequence { key: SequenceKey::of_clients(clients), steps }
        };
        self.clients.iter().map(sequence).collect()
    }

    fn clear_steps(&mut self) {
        let usual = ScriptPlan::default();
        (self.clients, self.protocol, self.steps) = (usual.clients, usual.protocol, usual.steps);
    }

    fn seconds(&mut self) -> Vec<&mut u32> {
        vec![&mut self.seconds]
    }

    fn rows_of(&self, _step: &str) -> u64 {
        self.scale.saturating_mul(100_000)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use crate::{Plan, PlanError, WorkloadPlan};

    fn parsed(section: &str, folder: Option<&Path>) -> Result<Plan, PlanError> {
        let text = format!("[variants.a]\ndbms = \"postgres@16\"\n[workload.script]\n{section}");
        Plan::parse(&text, folder, "test")
    }

    #[test]
    fn what_is_written_says_the_same() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.sql"), "\\set x :rows + 1\nSELECT :x;\n").unwrap();
        let section = "file = [\"a.sql@3\"]\nbuiltin = \"se@1\"\nclients = \"1..3\"\n\
                       protocol = [\"simple\", \"prepared\"]\nrate = 100\nlatency_limit = 5\n\
                       define = { rows = 10 }\nscale = 2\ninit = \"tGvpf\"\nmax_tries = 4";
        let plan = parsed(section, Some(folder.path())).unwrap();
        let WorkloadPlan::Script(script) = &plan.workload else { panic!("{plan:?}") };
        let sources: Vec<_> =
            script.sources.iter().map(|s| (s.name.as_deref().unwrap(), s.weight)).collect();
        assert_eq!(sources, [("a.sql", 3), ("select-only", 1)]);
        let written = Plan::parse(&plan.to_toml(), None, "written").unwrap();
        assert_eq!(written.workload, plan.workload, "also without the file");
        let sequences = plan.workload.sequences();
        let keys: Vec<_> = sequences.iter().map(|sequence| sequence.key.number()).collect();
        assert_eq!(keys, [1, 2, 3]);
        let names: Vec<_> =
            sequences[1].steps.iter().map(|step| (&*step.key.name, step.key.dop)).collect();
        assert_eq!(
            names,
            [
                ("load", 1),
                ("vacuum", 1),
                ("primary-keys", 1),
                ("foreign-keys", 1),
                ("script.warm", 2),
                ("script", 2),
                ("script", 2),
            ]
        );
    }

    #[test]
    fn mistakes_are_told_with_their_place_in_the_script() {
        let folder = tempfile::tempdir().unwrap();
        for (text, section, message) in [
            ("SELECT 1;\n\\set x randm(1, 2)\n", "", "a.sql:2:8: expected a function of pgbench"),
            ("SELECT :nothing;\n", "", "a.sql:1:8: nothing sets the variable :nothing"),
            ("\\if 1\nSELECT 1;\n", "", "a.sql:1:1: "),
            ("\\shell ls\n", "", "\\shell is not supported"),
            (
                "\\startpipeline\nSELECT 1;\n\\endpipeline\n",
                "protocol = \"simple\"",
                "no pipelines",
            ),
            ("SELECT 1;\n", "init = \"x\"", "expected letters of `dtgGvpf`"),
            ("SELECT 1;\n", "init = \"gv\"", "add `t` before"),
            ("SELECT 1;\n", "steps = [\"laod\", \"script\"]", "did you mean `load`?"),
            ("SELECT 1;\n", "steps = [\"foreign-keys\", \"script\"]", "add its letter to `init`"),
            ("SELECT 1;\n", "steps = [\"load\"]", "`steps` without `script`"),
            ("SELECT 1;\n", "builtin = \"tpcx\"", "tpcx"),
            ("SELECT 1;\n", "define = 3", "expected a table such as"),
        ] {
            fs::write(folder.path().join("a.sql"), text).unwrap();
            let section = format!("file = \"a.sql\"\n{section}");
            let error = parsed(&section, Some(folder.path())).unwrap_err().to_string();
            assert!(error.contains(message), "{text}{section}: {error}");
        }
        let error = parsed("clients = 2", None).unwrap_err().to_string();
        assert!(error.contains("no script; add file"), "{error}");
        let error = parsed("file = \"b.sql\"", Some(folder.path())).unwrap_err().to_string();
        assert!(error.contains("cannot read"), "{error}");
    }
}
