//! The read-only sweep over clients in a plan: `[workload.select]`.

mod clients;
mod plan;

use serde_json::json;
use toml::de::DeValue;

use crate::count::Protocol;
use crate::family::{Family, PlannedStep, Sequence, SequenceKey};
use crate::key::{CommandOption, Form, Key, Keyed, StepNames};
use crate::kind::{Kind, once, one_or_more, whole, words};
use crate::problem::Problems;
use crate::section::{choice, integer};
use crate::step::{Labels, StepKey};
pub(super) use clients::clients;

pub use plan::{IdleThreads, Pinning, Point, SelectPlan, Transport};

/// From this scale on the rest after settling is as long as the benchmark says.
const FULL_REST_SCALE: f64 = 1000.0;
/// The id of a row is an `integer`.
const MOST_SCALE: u64 = (1 << 31) / 100_000;

pub(super) const PROTOCOLS: [(&str, Protocol); 3] = [
    ("simple", Protocol::Simple),
    ("extended", Protocol::Extended),
    ("prepared", Protocol::Prepared),
];

#[rustfmt::skip] // A table.
const OPTIONS: [CommandOption; 8] = [
    CommandOption { key: "scale", name: "scale", value: "N", form: Form::Count,
        help: "Scale of the table, 100000 rows each [default: 50]" },
    CommandOption { key: "clients", name: "clients", value: "N,…", form: Form::Names,
        help: "Numbers of clients: 1,2,4 or 1..176 or \"1..176 step 4\" [default: 1]" },
    CommandOption { key: "steps", name: "steps", value: "STEP,…", form: Form::Names,
        help: "Steps to judge, such as load,select [default: select]" },
    CommandOption { key: "protocol", name: "protocol", value: "NAME,…", form: Form::Names,
        help: "How statements are sent: simple, extended, prepared [default: prepared]" },
    CommandOption { key: "pinning", name: "pinning", value: "NAME,…", form: Form::Names,
        help: "Where clients and their servers run: none, colocated, random, smt, ccx, node \
               [default: none]" },
    CommandOption { key: "transport", name: "transport", value: "NAME,…", form: Form::Names,
        help: "How clients reach the server: unix, tcp, veth [default: unix]" },
    CommandOption { key: "pipeline", name: "pipeline", value: "N,…", form: Form::Counts,
        help: "Queries sent before an answer is awaited [default: 1]" },
    CommandOption { key: "seconds", name: "seconds", value: "S", form: Form::Count,
        help: "Seconds of each point [default: 5]" },
];

/// The steps that can be judged.
const NAMES: StepNames = StepNames {
    known: &[SelectPlan::LOAD, SelectPlan::INDEX, SelectPlan::SELECT],
    aliases: &[],
    suffixes: false,
};

impl Keyed for SelectPlan {
    #[rustfmt::skip] // A table.
    fn keys(&mut self) -> Vec<Key<'_>> {
        let usual = SelectPlan::default();
        vec![
            Key::whole("scale", &mut self.scale, 1..MOST_SCALE + 1).note("100,000 rows each"),
            Key::whole("load_dop", &mut self.load_dop, 1..1001).note("clients that load"),
            Key::steps(&mut self.steps, NAMES).note("that are judged")
                .means("the steps to judge; load and index are only [loaded](#loading-once) before the first of them"),
            Key::new("clients", &mut self.clients, clients())
                .means("numbers of clients: numbers, and ranges such as `\"1..176\"` or `\"1..176 step 4\"`"),
            Key::new("protocol", &mut self.protocol, several(&PROTOCOLS))
                .note("simple, extended or prepared").means("`simple`, `extended` (parsed anew each time), `prepared`"),
            Key::new("pinning", &mut self.pinning, several(&Pinning::NAMED))
                .note("none, colocated, random, smt, ccx or node")
                .means("where clients and their servers run, below"),
            Key::new("transport", &mut self.transport, several(&Transport::NAMED))
                .note("unix, tcp or veth")
                .means("`unix`; `tcp` over loopback; `veth` between two network namespaces, as root. One server can't have both `tcp` and `veth`"),
            Key::new("pipeline", &mut self.pipeline, distinct(whole(1..1001)))
                .note("queries sent before an answer is awaited")
                .means("queries sent before an answer is awaited; each is an operation, but \
                        latency is that of all of them together"),
            Key::new("idle", &mut self.idle, distinct(idle())).unless(&usual.idle)
                .note("idle-priority processes: a number, \"cpus\" or \"2*cpus\"")
                .means("busy processes of idle priority (`SCHED_IDLE`): a number, `\"cpus\"`, `\"2*cpus\"`"),
            Key::optional("idle_from", &mut self.idle_from, whole(1..10_000_001)).unit("s")
                .usual("the start of a point").note("second from which they run")
                .means("second of a point from which these processes run"),
            Key::optional("idle_to", &mut self.idle_to, whole(1..10_000_001)).unit("s")
                .usual("the end of a point").note("second until which they run")
                .means("second of a point until which they run"),
            Key::whole("seconds", &mut self.seconds, 1..10_000_001).unit("s").note("per point")
                .means("duration of each point"),
            Key::whole("warm_seconds", &mut self.warm_seconds, 0..10_000_001).unit("s")
                .note("before the first point").means("duration of `select.warm`, before the first point"),
            Key::optional("counter_seconds", &mut self.counter_seconds, whole(0..3601)).unit("s")
                .usual("1, where they can be counted")
                .note("after each point, to count the scheduler's events; 0: not counted"),
        ]
    }
}

/// One value or several, without repetition.
fn distinct<T: PartialEq + ToString + 'static>(one: Kind<T>) -> Kind<Vec<T>> {
    one_or_more(one).and_then(|list| once(list, "one", "remove one"))
}

/// One word or several, each with a meaning, without repetition.
pub(super) fn several<T: Copy + PartialEq>(named: &'static [(&'static str, T)]) -> Kind<Vec<T>> {
    let word = Kind::new(words(named), move |one| {
        choice(one, named)?;
        Ok(one.as_str().unwrap_or_default().to_owned())
    });
    let meaning = move |word: &String| named.iter().find(|(name, _)| name == word).map(|it| it.1);
    distinct(word).and_then(move |words| Ok(words.iter().filter_map(meaning).collect()))
}

/// A number of idle-priority processes.
fn idle() -> Kind<IdleThreads> {
    let schema = json!({ "type": ["integer", "string"], "minimum": 0, "examples": ["cpus"] });
    Kind::new(schema, |value| match value {
        DeValue::String(text) => IdleThreads::try_from(text.to_string()),
        number => integer(number, 0..u64::from(plan::MOST_IDLE) + 1).map(IdleThreads::Number),
    })
}

impl Family for SelectPlan {
    fn name(&self) -> &'static str {
        "select"
    }

    fn options(&self) -> &'static [CommandOption] {
        &OPTIONS
    }

    fn shorten(&mut self, _given: &dyn Fn(&str) -> bool) -> f64 {
        // The whole rest after settling is for large tables.
        (self.scale as f64 / FULL_REST_SCALE).clamp(0.02, 1.0)
    }

    fn prepares(&self) -> Vec<String> {
        let made = [Self::LOAD, Self::INDEX].into_iter().map(str::to_owned);
        made.take_while(|step| !self.steps.contains(step)).collect()
    }

    fn check(&self, problems: &mut Problems) {
        if !self.steps.iter().any(|step| step == Self::SELECT) {
            problems.of("workload.select.steps", "`steps` without `select`; add it");
        }
        if self.protocol.contains(&Protocol::Simple) && self.pipeline.iter().any(|depth| *depth > 1)
        {
            let message = "a `pipeline` cannot be sent by the simple protocol; remove \"simple\" \
                           from `protocol`, or set pipeline = 1";
            problems.of("workload.select.pipeline", message);
        }
        let none = self.idle.iter().all(|idle| *idle == IdleThreads::Number(0));
        if none && (self.idle_from.is_some() || self.idle_to.is_some()) {
            let message = "`idle_from` and `idle_to` without `idle`; set idle = \"cpus\", or remove \
                           them";
            problems.of("workload.select.idle_from", message);
        }
        let (from, to) = (self.idle_from.unwrap_or(0), self.idle_to.unwrap_or(self.seconds));
        if from >= to || to > self.seconds {
            let message = format!(
                "idle-priority processes run from second {from} to {to} of a point of {} s; expected \
                 idle_from < idle_to ≤ seconds",
                self.seconds
            );
            problems.of("workload.select.idle_to", message);
        }
    }

    /// One: a server carries the whole sweep.
    fn sequences(&self) -> Vec<Sequence> {
        let step = |name: &str, dop: u32, labels: Labels| PlannedStep {
            key: StepKey { name: name.to_owned(), dop, labels },
            timed: name == Self::SELECT || name == Self::WARM,
            warm_up: name == Self::WARM,
            ..PlannedStep::default()
        };
        let mut steps = vec![
            step(Self::LOAD, self.load_dop, Labels::new()),
            step(Self::INDEX, 1, Labels::new()),
        ];
        if self.warm_seconds > 0 {
            steps.push(step(Self::WARM, self.load_dop, Labels::new()));
        }
        let points = self.points().into_iter();
        steps.extend(points.map(|point| step(Self::SELECT, point.clients, point.labels)));
        vec![Sequence { key: SequenceKey::ONLY, steps }]
    }

    fn clear_steps(&mut self) {
        let usual = SelectPlan::default();
        let SelectPlan { clients, steps, protocol, pinning, transport, pipeline, idle, .. } = usual;
        *self = SelectPlan {
            clients,
            steps,
            protocol,
            pinning,
            transport,
            pipeline,
            idle,
            ..self.clone()
        };
    }

    fn seconds(&mut self) -> Vec<&mut u32> {
        vec![&mut self.seconds]
    }

    fn rows_of(&self, _step: &str) -> u64 {
        SelectPlan::rows(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Plan, PlanError, WorkloadPlan};

    fn parsed(section: &str) -> Result<Plan, PlanError> {
        let text = format!("[variants.a]\ndbms = \"postgres@16\"\n[workload.select]\n{section}");
        Plan::parse(&text, None, "test")
    }

    #[test]
    fn what_is_written_says_the_same() {
        let section = "scale = 2\nclients = \"1..9 step 4\"\npinning = [\"none\", \"random\"]\n\
                       idle = [0, \"cpus\", \"2*cpus\"]\nidle_from = 1\nidle_to = 3\nseconds = 4";
        let plan = parsed(section).unwrap();
        let WorkloadPlan::Select(select) = &plan.workload else { panic!("{plan:?}") };
        assert_eq!((&select.clients[..], select.rows()), (&[1, 5, 9][..], 200_000));
        let written = Plan::parse(&plan.to_toml(), None, "written").unwrap();
        assert_eq!(written.workload, plan.workload);
        let [sequence] = &plan.workload.sequences()[..] else { panic!("one server for all") };
        assert_eq!(sequence.steps.len(), 3 + 3 * 2 * 3);
        let last = sequence.steps.last().unwrap();
        assert_eq!((&*last.key.name, last.key.dop, last.timed), (SelectPlan::SELECT, 9, true));
        let labels: Vec<_> = last.key.labels.iter().map(|(k, v)| format!("{k}={v}")).collect();
        assert_eq!(labels, ["idle=2*cpus", "pinning=random"]);
        assert_eq!(IdleThreads::PerCpu(2).on(4), 8);
    }

    #[test]
    fn what_is_usual_needs_no_label() {
        let points = parsed("clients = [1, 2]").unwrap().workload.sequences().remove(0).steps;
        assert!(points.iter().all(|point| point.key.labels.is_empty()));
    }

    #[test]
    fn mistakes_are_told() {
        for (section, message) in [
            ("clients = []", "the list is empty"),
            ("steps = ['load']", "`steps` without `select`"),
            ("clients = [4, \"2..5\"]", "4 appears twice"),
            ("clients = \"9..1\"", "expected a number of clients, or a range such as \"1..176\""),
            ("pinning = \"cores\"", "expected \"none\", \"colocated\""),
            ("pinning = [\"none\", \"none\"]", "none appears twice"),
            ("pipeline = [1, 5]\nprotocol = [\"simple\"]", "cannot be sent by the simple protocol"),
            ("idle = \"many\"", "expected a number, \"cpus\" or \"2*cpus\""),
            ("idle_from = 1", "without `idle`"),
            ("idle = 3\nidle_from = 2\nidle_to = 9", "expected idle_from < idle_to ≤ seconds"),
            ("scale = 30000", "from 1 to 21474"),
        ] {
            let error = parsed(section).unwrap_err().to_string();
            assert!(error.contains(message), "{section}: {error}");
        }
    }
}
