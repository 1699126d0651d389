//! A log of statements that is sent again, in a plan: `[workload.replay]`.

mod plan;

use std::path::Path;

use serde_json::Value;

use crate::data_directories::{DATABASE, DataDirectories, RESTORE};
use crate::family::{Family, NamedFile, PlannedStep, Sequence, SequenceKey};
use crate::key::{CommandOption, Form, Key, Keyed};
use crate::kind::{Kind, choice, number, string, text, whole};
use crate::problem::Problems;
use crate::step::StepKey;
use crate::workloads::program::command;

pub use plan::{Log, Order, ReplayPlan};

#[rustfmt::skip] // A table.
const OPTIONS: [CommandOption; 11] = [
    CommandOption { key: "log", name: "log", value: "FILE", form: Form::Name,
        help: "The log; also as a word of its own: run replay LOG" },
    CommandOption { key: "format", name: "log-format", value: "FORMAT", form: Form::Name,
        help: "Its format, such as postgres-csv or mysql-general [default: found by looking]" },
    CommandOption { key: "line_prefix", name: "line-prefix", value: "PREFIX", form: Form::Name,
        help: "log_line_prefix of the server that wrote it [default: %m [%p] ]" },
    CommandOption { key: "only_database", name: "only-database", value: "NAME", form: Form::Name,
        help: "Only the statements of this database" },
    CommandOption { key: "speed", name: "speed", value: "N", form: Form::Number,
        help: "At the times of the log, so many times as fast [default: as fast as answers arrive]" },
    CommandOption { key: "order", name: "order", value: "ORDER", form: Form::Name,
        help: "tables: transactions wait for earlier ones with their tables; sessions: none does" },
    CommandOption { key: "may_fail", name: "may-fail", value: "SHARE", form: Form::Number,
        help: "So large a share may fail that did not in the log [default: 0.01]" },
    CommandOption { key: "init", name: "init", value: "COMMAND", form: Form::Name,
        help: "What loads the data, such as 'pg_restore -d {database} /dumps/shop.dump'" },
    RESTORE,
    DATABASE,
    CommandOption { key: "setup_file", name: "setup-file", value: "FILE", form: Form::Name,
        help: "SQL that makes the data" },
];

/// Most connections.
const MOST: u32 = 10_000;

/// A format of logs.
fn format() -> Kind<trace::Format> {
    string().and_then(|text| text.parse::<trace::Format>().map_err(|error| error.to_string()))
}

impl Keyed for ReplayPlan {
    #[rustfmt::skip] // A table.
    fn keys(&mut self) -> Vec<Key<'_>> {
        let order = self.order.name().to_owned();
        let format_shown = self.format.map(|format| format.to_string());
        let mut keys = vec![
            Key::optional("log", &mut self.log, string()).note("it is read again for each trial")
                .means("a log of statements, relative to the plan"),
            Key::optional("digest", &mut self.digest, string()).usual("of the log when the plan is read")
                .note("SHA-256 of the log").means("SHA-256 of the log, which must not change"),
            Key::optional("clients", &mut self.clients, whole(1..u64::from(MOST) + 1)).usual("from the log")
                .note("connections").means("most sessions that were open at the same time; so many connections send the log"),
            Key::optional("format", &mut self.format, format()).shown(format_shown).usual("found by looking")
                .means("`postgres-csv`, `postgres-json`, `postgres-stderr`, `mysql-general`, `mysql-slow` or `plain`"),
            Key::optional("line_prefix", &mut self.line_prefix, string()).usual("`\"%m [%p] \"`")
                .means("`log_line_prefix` of the server that wrote it; for `postgres-stderr`"),
            Key::optional("only_database", &mut self.only_database, string()).usual("the only one of the log")
                .note("sends only the statements of this database")
                .means("sends only the statements of this database; needed if the log has several"),
            Key::optional("speed", &mut self.speed, number(1e-3..=1e6, "a number above 0"))
                .usual("as fast as answers arrive").note("times as fast as it was written")
                .means("sends statements at the times of the log, so many times as fast"),
            Key::new("order", &mut self.order, choice(&Order::NAMED)).shown(Some(order))
                .note("kept between sessions")
                .means("`tables`: a transaction waits for those that changed one of its tables and had ended when it began in the log; `sessions`: only each session keeps its order"),
            Key::new("may_fail", &mut self.may_fail, number(0.0..=1.0, "a share, 0 to 1"))
                .note("of the statements, besides those that failed in the log")
                .means("so large a share of the statements may fail that didn't in the log; if more do, the trial fails"),
            Key::optional("init", &mut self.init, command()).note("loads the data")
                .means("a command that loads the data, before `setup_file`; see [Dumps](queries.md#dumps)"),
        ];
        keys.extend(self.data.keys());
        keys.extend([
            Key::optional("setup_file", &mut self.setup_file, string())
                .note("its text follows; the file is not read again")
                .means("SQL that makes the data"),
            Key::optional("setup_text", &mut self.setup_text, text()).usual("that of `setup_file`")
                .means("the SQL"),
        ]);
        keys
    }
}

impl Family for ReplayPlan {
    fn name(&self) -> &'static str {
        "replay"
    }

    fn options(&self) -> &'static [CommandOption] {
        &OPTIONS
    }

    fn short_operand(&self) -> Option<&'static str> {
        Some("log")
    }

    fn files(&mut self) -> Vec<NamedFile<'_>> {
        vec![NamedFile {
            keys: ("setup_file", "setup_text"),
            file: &self.setup_file,
            text: &mut self.setup_text,
        }]
    }

    fn large_files(&mut self) -> Vec<(&'static str, Vec<&mut String>)> {
        let unread = self.digest.is_none();
        let log = self.log.as_mut().filter(|log| unread || Path::new(log).is_relative());
        log.map(|log| ("log", vec![log])).into_iter().chain(self.data.unread()).collect()
    }

    fn look(&mut self, key: &str) -> Result<Vec<(&'static str, Value)>, String> {
        if key == RESTORE.key {
            return self.data.look();
        }
        let (log, digest) = self.open()?;
        if self.digest.as_ref().is_some_and(|known| *known != digest) {
            return Err(format!("expected a log with the SHA-256 of `digest`, found {digest}"));
        }
        let clients = log.connections().len();
        let clients = u32::try_from(clients).ok().filter(|it| *it <= MOST).ok_or_else(|| {
            format!("{clients} sessions are open at the same time, expected {MOST} at most; cut it")
        })?;
        let found = vec![
            ("log", Value::from(self.log.as_deref())),
            ("digest", Value::from(&*digest)),
            ("clients", Value::from(clients)),
            ("format", Value::from(log.format.to_string())),
        ];
        (self.digest, self.clients, self.format) = (Some(digest), Some(clients), Some(log.format));
        Ok(found)
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
        if self.log.is_none() {
            problems.of("workload.replay.log", "no log; add log = \"FILE\"");
        }
    }

    fn prepares(&self) -> Vec<String> {
        self.loads().into_iter().map(str::to_owned).collect()
    }

    fn sequences(&self) -> Vec<Sequence> {
        let step = |name: &str, dop: u32| PlannedStep {
            key: StepKey::new(name, dop),
            ..PlannedStep::default()
        };
        let loads = self.loads().into_iter().map(|name| step(name, 1));
        let replay = step(ReplayPlan::REPLAY, self.clients.unwrap_or(1));
        vec![Sequence { key: SequenceKey::ONLY, steps: loads.chain([replay]).collect() }]
    }

    /// A log is the same wherever it lies.
    fn clear_steps(&mut self) {
        self.log = None;
        self.data.clear_place();
    }

    fn seconds(&mut self) -> Vec<&mut u32> {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::{Plan, PlanError, WorkloadPlan};

    fn parsed(section: &str, folder: Option<&Path>) -> Result<Plan, PlanError> {
        let text = format!("[variants.a]\ndbms = \"postgres@16\"\n[workload.replay]\n{section}");
        Plan::parse(&text, folder, "test")
    }

    fn replay(plan: &Plan) -> &ReplayPlan {
        let WorkloadPlan::Replay(replay) = &plan.workload else { panic!("{plan:?}") };
        replay
    }

    /// Statements at these seconds of these sessions, each of which takes half a second.
    fn log(statements: &[(u32, u32)]) -> String {
        let line = |(second, session): &(u32, u32)| {
            format!(
                "{{\"at_us\":{second}000000,\"session\":{session},\"text\":\"SELECT {second}\",\
                 \"took_us\":500000}}\n"
            )
        };
        statements.iter().map(line).collect()
    }

    #[test]
    fn a_plan_keeps_what_it_saw_of_its_log() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.jsonl"), log(&[(1, 7), (2, 8), (3, 7)])).unwrap();
        let section = "log = \"a.jsonl\"\nspeed = 2\nsetup_text = \"SELECT 1\"";
        let plan = parsed(section, Some(folder.path())).unwrap();
        let seen = replay(&plan);
        assert_eq!((seen.clients, seen.format), (Some(2), Some(trace::Format::Plain)));
        assert!(seen.log.as_ref().is_some_and(|log| Path::new(log).is_absolute()), "{seen:?}");
        assert_eq!(plan.restore_after.as_deref(), Some("setup"));
        let steps = &plan.workload.sequences()[0].steps;
        let steps: Vec<_> = steps.iter().map(|it| (&*it.key.name, it.key.dop, it.timed)).collect();
        assert_eq!(steps, [("setup", 1, false), ("replay", 2, false)]);
        for text in [plan.to_toml(), plan.text.clone()] {
            let again = Plan::parse(&text, None, "again").unwrap();
            assert_eq!(again.workload, plan.workload, "{text}");
        }
        let moved = tempfile::tempdir().unwrap();
        fs::copy(folder.path().join("a.jsonl"), moved.path().join("a.jsonl")).unwrap();
        let there = parsed(section, Some(moved.path())).unwrap();
        assert_eq!(there.workload.without_steps(), plan.workload.without_steps());
        assert_eq!(seen.read().unwrap().statements.len(), 3);
        fs::write(folder.path().join("a.jsonl"), log(&[(1, 7)])).unwrap();
        assert!(seen.read().unwrap_err().contains("has changed since the plan was read"));
    }

    #[test]
    fn sessions_share_connections_one_after_another() {
        let folder = tempfile::tempdir().unwrap();
        // Session 1 from 1 to 3.5 s, 2 from 2 to 2.5 s, 3 from 3 to 3.5 s, 4 from 5 s.
        let all = [(1, 1), (2, 2), (3, 1), (3, 3), (5, 4)];
        fs::write(folder.path().join("a"), log(&all)).unwrap();
        let plan = parsed("log = \"a\"", Some(folder.path())).unwrap();
        let connections = replay(&plan).read().unwrap().connections();
        assert_eq!(connections, [vec![0], vec![1, 2, 3]]);
    }

    #[test]
    fn only_one_database_of_a_log_is_sent() {
        let folder = tempfile::tempdir().unwrap();
        let of = |session: u32, name: &str| {
            let one = log(&[(session, session)]);
            one.replace("\"text\"", &format!("\"database\":\"{name}\",\"text\""))
        };
        let several = [of(1, "shop"), of(2, "blog"), of(3, "shop"), log(&[(4, 4)])].concat();
        fs::write(folder.path().join("a"), several).unwrap();
        let parsed = |more: &str| parsed(&format!("log = \"a\"\n{more}"), Some(folder.path()));
        for (more, message) in [
            ("", "several databases: blog (1 statement), shop (2 statements); name one of them"),
            ("only_database = \"b\"", "no statements of the database b, but those of blog (1 "),
        ] {
            let error = parsed(more).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
        let plan = parsed("only_database = \"shop\"").unwrap();
        let sent = replay(&plan).read().unwrap().statements;
        assert_eq!(sent.iter().map(|it| it.at_us).collect::<Vec<_>>(), [1_000_000, 3_000_000]);
        // A log that knows none, and one that also has statements before one is chosen.
        fs::write(folder.path().join("a"), log(&[(4, 4)])).unwrap();
        assert!(parsed("only_database = \"shop\"").is_ok());
        fs::write(folder.path().join("a"), [log(&[(1, 1)]), of(2, "blog")].concat()).unwrap();
        assert_eq!(replay(&parsed("").unwrap()).read().unwrap().statements.len(), 2);
    }

    #[test]
    fn mistakes_are_told() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("empty"), "").unwrap();
        fs::write(folder.path().join("a"), log(&[(1, 1)])).unwrap();
        for (section, message) in [
            ("", "no log; add log"),
            ("log = \"none\"", "cannot read"),
            ("log = \".\"", "is not a file"),
            ("log = \"empty\"", "no format that is known by looking"),
            ("log = \"a\"\nformat = \"postgres-csv\"", "expected records of a log"),
            ("log = \"a\"\nformat = \"csv\"", "unknown format `csv`; expected one of postgres-csv"),
            ("log = \"a\"\nspeed = 0", "a number above 0"),
            ("log = \"a\"\nmay_fail = 2", "a share, 0 to 1"),
        ] {
            let error = parsed(section, Some(folder.path())).unwrap_err().to_string();
            assert!(error.contains(message), "{section}: {error}");
        }
    }
}
