//! A directory of queries in a plan: `[workload.queries]`.

mod parameters;
mod plan;
mod statements;

use serde_json::Value;

use crate::data_directories::{DATABASE, DataDirectories, RESTORE};
use crate::duration::format_duration;
use crate::family::{Family, NamedDirectory, PlannedStep, Sequence, SequenceKey};
use crate::key::{CommandOption, Form, Key, Keyed};
use crate::kind::{boolean, choice, one_or_more, string, table, text, time};
use crate::near::nearest;
use crate::problem::Problems;
use crate::section::printable;
use crate::step::StepKey;
use crate::workloads::program::command;

pub use plan::{Compared, QueriesPlan, Query};
pub use statements::split;
pub use trace::Syntax;

#[rustfmt::skip] // A table.
const OPTIONS: [CommandOption; 10] = [
    CommandOption { key: "directory", name: "directory", value: "DIR", form: Form::Name,
        help: "Directory of .sql files, each a query; also as a word of its own: run queries DIR" },
    CommandOption { key: "init", name: "init", value: "COMMAND", form: Form::Name,
        help: "What loads the data, such as 'pg_restore -d {database} /dumps/shop.dump'" },
    RESTORE,
    DATABASE,
    CommandOption { key: "steps", name: "steps", value: "QUERY,…", form: Form::Names,
        help: "Queries to run [default: all]" },
    CommandOption { key: "clients", name: "clients", value: "N", form: Form::Count,
        help: "Clients that send a query at the same time [default: 1]" },
    CommandOption { key: "seconds", name: "seconds", value: "S", form: Form::Count,
        help: "Seconds of each query; it runs at least once [default: 5]" },
    CommandOption { key: "timeout", name: "timeout", value: "TIME", form: Form::Name,
        help: "How long one execution may take, such as 30s [default: any time]" },
    CommandOption { key: "compare", name: "compare", value: "WHAT", form: Form::Name,
        help: "What must be the same in all variants' results: rows, count, nothing \
               [default: rows]" },
    CommandOption { key: "cold", name: "cold", value: "", form: Form::Switch("true"),
        help: "Each query once, on a server just started whose data is not in memory" },
];

impl Keyed for QueriesPlan {
    #[rustfmt::skip] // A table.
    fn keys(&mut self) -> Vec<Key<'_>> {
        let shown = self.timeout.map(format_duration);
        let (texts, steps) = (!self.texts.is_empty(), !self.steps.is_empty());
        let compared = self.compared.name().to_owned();
        let mut keys = vec![
            Key::optional("directory", &mut self.directory, string())
                .note("its texts follow; the files are not read again")
                .means("directory of `.sql` and `.csv` files, relative to the plan"),
            Key::new("texts", &mut self.texts, table(text(), "{ \"q1.sql\" = \"SELECT 1\" }"))
                .written(texts).usual("those of `directory`").means("the texts of the files"),
            Key::optional("init", &mut self.init, command()).note("loads the data")
                .means("a command that loads the data, before `setup.sql`; see [Dumps](queries.md#dumps)"),
        ];
        keys.extend(self.data.keys());
        keys.extend([
            Key::new("steps", &mut self.steps, one_or_more(string())).written(steps)
                .usual("all")
                .means("the queries to run; if they include `setup`, it is judged too"),
            Key::whole("clients", &mut self.clients, 1..10_001)
                .means("clients that send a query at the same time"),
            Key::whole("seconds", &mut self.seconds, 1..10_000_001).unit("s")
                .means("duration of each query, which runs at least once; not if `cold`"),
            Key::optional("timeout", &mut self.timeout, time()).shown(shown)
                .means("how long one execution may take: `\"30s\"`; a query that takes longer fails"),
            Key::new("compare", &mut self.compared, choice(&Compared::NAMED)).shown(Some(compared))
                .note("rows, count or nothing")
                .means("what must be the same in the results of all variants: `rows`, `count` (of rows), `nothing`"),
            Key::new("cold", &mut self.cold, boolean()).unless(&false)
                .note("each query once, on a server just started")
                .means("each query runs once in each trial, on a server just started whose files are not in the page cache; see [Cold](queries.md#cold)"),
        ]);
        keys
    }
}

impl Family for QueriesPlan {
    fn name(&self) -> &'static str {
        "queries"
    }

    fn options(&self) -> &'static [CommandOption] {
        &OPTIONS
    }

    fn short_operand(&self) -> Option<&'static str> {
        Some("directory")
    }

    fn directory(&mut self) -> Option<NamedDirectory<'_>> {
        Some(NamedDirectory {
            keys: ("directory", "texts"),
            directory: &self.directory,
            extensions: &["sql", "csv"],
            texts: &mut self.texts,
        })
    }

    fn large_files(&mut self) -> Vec<(&'static str, Vec<&mut String>)> {
        self.data.unread().into_iter().collect()
    }

    fn look(&mut self, _key: &str) -> Result<Vec<(&'static str, Value)>, String> {
        self.data.look()
    }

    fn data_directories(&self) -> Option<&DataDirectories> {
        Some(&self.data)
    }

    fn commands(&mut self) -> Vec<&mut String> {
        self.init.iter_mut().collect()
    }

    fn check(&self, problems: &mut Problems) {
        if problems.is_unread("workload") {
            return;
        }
        self.data.check(self.name(), self.init.is_some(), problems);
        let names = self.all_names();
        if names.is_empty() {
            let message = "no queries; add directory = \"DIR\" with files such as q1.sql";
            problems.of("workload.queries.directory", message);
        }
        for mistake in self.mistakes() {
            problems.of("workload.queries.directory", mistake);
        }
        let known = |step: &str| names.contains(step) || self.loads().contains(&step);
        for step in self.steps.iter().filter(|step| !known(step)) {
            let hint = match nearest(step, names.iter().map(String::as_str)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("{} queries are known", names.len()),
            };
            let message = format!("`steps`: unknown query `{}`; {hint}", printable(step));
            problems.of("workload.queries.steps", message);
        }
    }

    fn prepares(&self) -> Vec<String> {
        let judged = |load: &&str| self.steps.iter().any(|step| step == load);
        // Those before the first that is judged are only loaded.
        self.loads().into_iter().take_while(|load| !judged(load)).map(str::to_owned).collect()
    }

    /// One: a server carries all queries, which only read.
    fn sequences(&self) -> Vec<Sequence> {
        let step = |key: StepKey, timed: bool| PlannedStep { key, timed, ..PlannedStep::default() };
        let loads = self.loads().into_iter().map(|name| step(StepKey::new(name, 1), false));
        let names = self.names();
        let queries = names.iter().map(|name| step(self.key(name), !self.cold));
        vec![Sequence { key: SequenceKey::ONLY, steps: loads.chain(queries).collect() }]
    }

    fn clear_steps(&mut self) {
        let usual = QueriesPlan::default();
        (self.steps, self.clients) = (usual.steps, usual.clients);
        self.data.clear_place();
    }

    fn seconds(&mut self) -> Vec<&mut u32> {
        vec![&mut self.seconds]
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::{Layer, Plan, PlanError, WorkloadPlan};

    fn parsed(section: &str, folder: Option<&Path>) -> Result<Plan, PlanError> {
        let text = format!("[variants.a]\ndbms = \"postgres@16\"\n[workload.queries]\n{section}");
        Plan::parse(&text, folder, "test")
    }

    fn directory(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("q")).unwrap();
        for (name, text) in files {
            fs::write(folder.path().join("q").join(name), text).unwrap();
        }
        folder
    }

    fn queries(plan: &Plan) -> &QueriesPlan {
        let WorkloadPlan::Queries(queries) = &plan.workload else { panic!("{plan:?}") };
        queries
    }

    const FILES: [(&str, &str); 7] = [
        ("b.sql", "-- name: b2\nSELECT 2;\n-- name: b1\n(SELECT {x}, '{x}');\n"),
        ("b.csv", "x\n1\n2\n"),
        ("a.sql", "-- a comment\nWITH t AS (SELECT 1) SELECT * FROM t"),
        ("a.mysql.sql", "SELECT 'it\\'s; one', `b`;"),
        ("setup.sql", "CREATE TABLE t (a int); INSERT INTO t VALUES (1);"),
        ("notes.txt", "not read"),
        ("c.sql", "values (1)"),
    ];

    #[test]
    fn what_is_written_says_the_same_without_the_files() {
        let folder = directory(&FILES);
        let section = "directory = \"q\"\nclients = 4\ntimeout = \"30s\"\ncompare = \"count\"";
        let cold = parsed(&format!("{section}\ncold = true"), Some(folder.path())).unwrap();
        assert!(queries(&cold).cold);
        let written = Plan::parse(&cold.to_toml(), None, "written").unwrap();
        assert_eq!(written.workload, cold.workload, "{}", cold.to_toml());
        let plan = parsed(section, Some(folder.path())).unwrap();
        let written = Plan::parse(&plan.to_toml(), None, "written").unwrap();
        assert_eq!(written.workload, plan.workload, "{}", plan.to_toml());
        let kept = Plan::parse(&plan.text, None, "kept").unwrap();
        assert_eq!(kept.workload, plan.workload, "{}", plan.text);
        assert_eq!(queries(&plan).texts.len(), 6);
        assert_eq!(
            (plan.added.clone(), plan.restore_after),
            (vec!["setup".to_owned()], Some("setup".to_owned()))
        );
        let steps = &written.workload.sequences()[0].steps;
        let steps: Vec<_> = steps.iter().map(|it| (&*it.key.name, it.key.dop, it.timed)).collect();
        assert_eq!(
            steps,
            [("setup", 1, false), ("a", 4, true), ("b1", 4, true), ("b2", 4, true), ("c", 4, true)]
        );
    }

    #[test]
    fn a_command_loads_before_the_setup() {
        let folder = directory(&FILES);
        let section = "directory = \"q\"\ninit = \"psql -d {database} -f 'a b' password=s3cret\"";
        let plan = parsed(section, Some(folder.path())).unwrap();
        assert_eq!(queries(&plan).loads(), ["init", "setup"]);
        assert_eq!(
            (plan.added.clone(), plan.restore_after.clone()),
            (vec!["init".to_owned(), "setup".to_owned()], Some("setup".to_owned()))
        );
        assert!(!plan.text_without_passwords().contains("s3cret"));
        let steps = &plan.workload.sequences()[0].steps;
        assert_eq!((&*steps[0].key.name, &*steps[1].key.name), ("init", "setup"));
        let judged =
            parsed(&format!("{section}\nsteps = [\"init\"]"), Some(folder.path())).unwrap();
        assert_eq!((judged.added.len(), judged.restore_after), (0, None));
        let error = parsed("directory = \"q\"\ninit = \"a 'b\"", Some(folder.path())).unwrap_err();
        assert!(error.to_string().contains("a quote is not closed"), "{error}");
    }

    #[test]
    fn each_system_has_its_texts() {
        let folder = directory(&FILES);
        let plan = parsed("directory = \"q\"\n", Some(folder.path())).unwrap();
        let of = |system, syntax| queries(&plan).queries(system, syntax).unwrap();
        let postgres = of("postgres", Syntax::Dollars);
        assert_eq!(postgres[0].texts, ["WITH t AS (SELECT 1) SELECT * FROM t"]);
        assert_eq!(postgres[1].texts, ["(SELECT 1, '{x}')", "(SELECT 2, '{x}')"]);
        assert_eq!(of("mysql", Syntax::Backslashes)[0].texts, ["SELECT 'it\\'s; one', `b`"]);
        assert_eq!(of("mariadb", Syntax::Backslashes)[0].texts, postgres[0].texts);
        let setup = queries(&plan).setup("postgres", Syntax::Dollars).unwrap();
        assert_eq!(setup, ["CREATE TABLE t (a int)", "INSERT INTO t VALUES (1)"]);
        let some = parsed("directory = \"q\"\nsteps = [\"c\", \"setup\"]", Some(folder.path()));
        let some = some.unwrap();
        assert_eq!((queries(&some).names(), some.added.len()), (vec!["c".to_owned()], 0));
    }

    #[test]
    fn a_query_has_one_text_on_each_system() {
        let named = |text: &str| format!("-- name: x\n{text}");
        let (one, two) = (named("SELECT 1"), named("SELECT 2"));
        let folder = directory(&[("a.sql", &one), ("b.mysql.sql", &two)]);
        let plan = parsed("directory = \"q\"", Some(folder.path())).unwrap();
        let of = |system, syntax| queries(&plan).queries(system, syntax);
        let error = of("mysql", Syntax::Backslashes).unwrap_err();
        assert!(error.contains("for mysql there are two queries `x`"), "{error}");
        assert_eq!(of("postgres", Syntax::Dollars).unwrap().len(), 1);
        // Not the name of a system: a query of its own, not one that is never used.
        let folder = directory(&[("a.sql", "SELECT 1"), ("a.postgresql.sql", "SELECT 2")]);
        let plan = parsed("directory = \"q\"", Some(folder.path())).unwrap();
        assert_eq!(queries(&plan).names(), ["a", "a.postgresql"]);
    }

    #[test]
    fn a_directory_is_an_operand_of_the_short_form() {
        let folder = directory(&FILES);
        let mut layer = Layer::default();
        layer.set("-v", &["variants", "a", "dbms"], &"postgres@14.3");
        layer.option("directory", &folder.path().join("q").display().to_string());
        let workload = WorkloadPlan::named("queries").unwrap();
        assert_eq!(workload.short_operand(), Some("directory"));
        let plan = Plan::short(&workload, &layer).unwrap();
        assert_eq!(queries(&plan).names(), ["a", "b1", "b2", "c"]);
        drop(folder);
        let again = Plan::parse(&plan.text, None, "its text").unwrap();
        assert_eq!(again.workload, plan.workload, "the files are gone");
    }

    #[test]
    fn mistakes_are_told_with_their_files() {
        for (file, text, message) in [
            ("a.sql", "SELECT 1;\nSELECT 2", "a.sql:1: 2 statements, and this one has no name"),
            ("a.sql", "SELECT 'x", "a.sql:1: a string does not end"),
            (
                "a.sql",
                "\n\nUPDATE t SET a = 1",
                "a.sql:3: expected a query that begins with SELECT",
            ),
            ("a.sql", "-- name: b c\nSELECT 1", "a.sql:2: expected a name of letters"),
            ("a.sql", "-- nothing", "a.sql: expected a query, found none"),
            ("a.sql", "SELECT {y}", "a.sql:1: `{y}` has no values; write them into a.csv"),
            ("b.csv", "x,y\n1,2\n", "b.sql:2: b.csv has values for `{y}`, which no query"),
            ("b.csv", "x\n", "b.csv: expected rows of values"),
            ("d.sql", "-- name: b1\nSELECT 1", "d.sql: b.sql has a query `b1` too"),
            ("a.mysql.sql", "-- name: z\nSELECT 1", ""),
        ] {
            let folder = directory(&FILES);
            fs::write(folder.path().join("q").join(file), text).unwrap();
            let found = parsed("directory = \"q\"", Some(folder.path()));
            if message.is_empty() {
                let error = queries(&found.unwrap()).queries("mysql", Syntax::Backslashes);
                assert!(error.unwrap_err().contains("the query `a` has no text for mysql"));
                continue;
            }
            let error = found.unwrap_err().to_string();
            assert!(error.contains(message), "{text}: {error}");
        }
        let folder = directory(&FILES);
        for (section, message) in [
            ("", "no queries; add directory"),
            ("directory = \"none\"", "cannot read"),
            ("directory = \"q/a.sql\"", "is not a directory"),
            ("directory = \"q\"\nsteps = [\"b3\"]", "unknown query `b3`; did you mean `b1`?"),
            ("directory = \"q\"\ncompare = \"all\"", "expected \"rows\", \"count\" or \"nothing\""),
            ("directory = \"q\"\ntimeout = \"fast\"", "is not a time"),
        ] {
            let error = parsed(section, Some(folder.path())).unwrap_err().to_string();
            assert!(error.contains(message), "{section}: {error}");
        }
    }
}
