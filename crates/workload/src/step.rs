//! The parts of a benchmark: steps and streams.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use plan::{Compared, StepKey};
use serde::{Deserialize, Serialize};

use crate::class::Class;
use crate::copy::{Content, Copy, Generated, Generator};
use crate::draw::{Cell, Draw};
use crate::request::{Expect, Request, Statement};
use crate::scripts::Scripts;
use crate::terms::Terms;

/// One measured phase at one number of clients.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Its usual name, number of concurrent clients and labels.
    pub key: StepKey,
    /// The class of requests whose operations are the step's throughput.
    pub counted: Class,
    /// The name of one operation, for tables: the class's unit, unless [`Step::operations`] says
    /// otherwise.
    pub unit: Cow<'static, str>,
    /// True if a lower rate is better, because it is a cost.
    pub less_is_better: bool,
    /// The stream of each connection.
    pub streams: Vec<Stream>,
    /// Number of shared cells the streams use.
    pub cells: usize,
    /// Measured seconds; `None`: until the leading streams have finished their work.
    pub seconds: Option<f64>,
    /// Operations of the step, if its statements don't count them: index creation counts the
    /// indexed rows.
    pub operations: Option<u64>,
    /// True if it may come before or after its neighbors of the same kind: each block draws their
    /// order.
    pub any_order: bool,
    /// Conditions other than the load.
    pub terms: Terms,
    /// Bytes that an operation reads or writes, if all are alike.
    pub bytes: Option<u64>,
    /// What is asked before the load, if the answers are to be compared between systems. If the
    /// step then fails, that is a result: the trial goes on with its other steps.
    pub asks: Option<Asks>,
    /// About the log that it sends again, if it does.
    pub log: Option<SentLog>,
}

/// A log that a step sends again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SentLog {
    /// Statements that are sent.
    pub statements: u64,
    /// Tables in whose order its streams wait for each other's transactions.
    pub tables: u32,
    /// The step fails if a stream waits and no statement has ended for so long.
    pub patience: Duration,
    /// Statements that move data in bulk, which the log does not have, and are not sent.
    pub bulk: u64,
    /// Failed statements whose values the log does not have; they are not sent.
    pub without_values: u64,
    /// Records of the log that could not be read.
    pub damaged: u64,
    /// If more statements fail that did not when the log was written, or the other way round, the
    /// step has failed.
    pub may_differ: u64,
}

/// Queries whose answers are compared between systems.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asks {
    /// Statements that prepare the session.
    pub opening: Vec<String>,
    /// The queries, as text.
    pub queries: Vec<String>,
    /// How much of the answers is compared.
    pub compared: Compared,
}

impl Step {
    /// A step that ends when the work of its streams is done.
    pub fn new(name: &str, dop: u32, counted: Class, streams: Vec<Stream>) -> Step {
        Step {
            key: StepKey::new(name, dop),
            unit: counted.unit.clone(),
            counted,
            less_is_better: false,
            streams,
            cells: 0,
            seconds: None,
            operations: None,
            any_order: false,
            terms: Terms::default(),
            bytes: None,
            asks: None,
            log: None,
        }
    }

    /// The number of its leading streams.
    pub fn leads(&self) -> usize {
        self.streams.iter().filter(|stream| stream.role == Role::Lead).count()
    }

    /// A step in which each client executes its `statements` once, one after another, such as those
    /// that make indexes. Its operations are the `rows` of the tables.
    pub(crate) fn define(name: &str, dop: u32, statements: Vec<Vec<String>>, rows: u64) -> Step {
        let stream = |(client, statements): (u32, Vec<String>)| {
            let plain = |text| Statement::plain(text, Expect::Success).into();
            Stream::once(client, statements.into_iter().map(plain).collect())
        };
        let streams = (0..).zip(statements).map(stream).collect();
        let step = Step::new(name, dop, Class::DEFINE, streams);
        Step { operations: Some(rows), unit: Class::INSERT.unit, ..step }
    }

    /// A step that makes indexes and statistics. It has no operations but its statements.
    pub(crate) fn index(name: &str, dop: u32, statements: Vec<String>) -> Step {
        let step = Step::define(name, dop, vec![statements], 1);
        Step { operations: None, unit: Class::DEFINE.unit, ..step }
    }

    /// A step in which each client loads a part of each table that a generator makes. Tables that
    /// are `small` are the first client's.
    pub(crate) fn generated(
        name: &str,
        clients: u32,
        (by, scale): (Generator, u32),
        tables: impl Iterator<Item = (&'static str, bool)> + Clone,
    ) -> Step {
        let part = |client: u32, (table, small): (&str, bool)| {
            let (part, parts) = match (small, client) {
                (true, 0) => (1, 1),
                (true, _) => return None,
                (false, _) => (client + 1, clients),
            };
            let table = table.to_owned();
            let made = Generated { by, table: table.clone(), scale, part, parts };
            Some(Request::Copy(Copy { table, content: Content::Generated(made) }))
        };
        let stream = |client| {
            let parts = tables.clone().filter_map(|table| part(client, table));
            Stream::once(client, parts.collect())
        };
        Step::new(name, clients, Class::DEFINE, (0..clients).map(stream).collect())
    }

    /// True if its clients wait for users who type and think.
    pub fn thinks(&self) -> bool {
        let thinks = |stream: &Stream| stream.scripts.as_ref().is_some_and(|it| it.thinks);
        self.streams.iter().any(thinks)
    }

    /// True if the rounds of its clients differ and come in an order of their own.
    pub fn runs_in_order(&self) -> bool {
        self.streams.iter().any(|stream| stream.in_order)
    }

    /// True if it ends after a time, false if it ends when its work is done.
    pub fn is_timed(&self) -> bool {
        self.seconds.is_some()
    }

    /// Target operations per second of all streams of a class together, if they have a rate.
    pub fn target(&self, class: &Class) -> Option<f64> {
        let rates = self.streams.iter().filter(|stream| stream.class == *class).filter_map(|s| {
            let (Pace::Rate(rounds) | Pace::Poisson(rounds)) = s.pace else { return None };
            Some(rounds * s.operations_per_round as f64)
        });
        rates.reduce(|sum, rate| sum + rate)
    }
}

/// The work of one connection in a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stream {
    /// The client it belongs to, from 0.
    pub client: u32,
    /// The class that its operations count as.
    pub class: Class,
    /// Its role: the step waits for it, or it runs in the background.
    pub role: Role,
    /// Requests that [`Action`]s name by index.
    pub requests: Vec<Request>,
    /// Values drawn once for each round, which its requests may share: [`Draw::Kept`].
    pub keeps: Vec<Draw>,
    /// One round of the stream, repeated until its end.
    pub actions: Vec<Action>,
    /// What a round does where rounds differ: one of these, drawn for each unless they come
    /// `in_order`, in place of `actions`.
    pub mix: Vec<Alternative>,
    /// The alternatives of the mix come one after another.
    pub in_order: bool,
    /// What its rounds are, one by one, if that is known beforehand: `actions` say which requests
    /// they send. A request that the server refuses then fails, and the stream goes on.
    pub turns: Vec<Turn>,
    /// Where its rounds stand in the order between streams, by round.
    pub links: Vec<Link>,
    /// Operations that one round counts (rows of a multi-row insert, 1 for a query).
    pub operations_per_round: u64,
    /// When the next round may start.
    pub pace: Pace,
    /// When the stream is done.
    pub end: End,
    /// Statements that are run once on each new connection, before anything else.
    pub opening: Vec<String>,
    /// After how many rounds its connection is replaced by a new one; `None`: never.
    pub reconnect: Option<u64>,
    /// A query on the side that keeps shared cells current; it is not counted.
    pub refresh: Option<Refresh>,
    /// A shared cell to which the operations of each finished round are added.
    pub adds_to: Option<Cell>,
    /// pgbench scripts that it runs instead of its actions, drawn by their own weights. With a mix,
    /// each counts as the alternative in its place.
    pub scripts: Option<Arc<Scripts>>,
    /// The rows that its queries must find over the whole step, if fewer rows would mean that they
    /// looked in the wrong place.
    pub finds: Option<Finds>,
}

impl Stream {
    /// A leading stream without requests, which sends as fast as it gets answers until the step's
    /// time is over, and counts one operation per round.
    pub fn new(client: u32, class: Class) -> Stream {
        Stream {
            client,
            class,
            role: Role::Lead,
            requests: Vec::new(),
            keeps: Vec::new(),
            actions: Vec::new(),
            mix: Vec::new(),
            in_order: false,
            turns: Vec::new(),
            links: Vec::new(),
            operations_per_round: 1,
            pace: Pace::Free,
            end: End::Time,
            opening: Vec::new(),
            reconnect: None,
            refresh: None,
            adds_to: None,
            scripts: None,
            finds: None,
        }
    }

    /// A leading stream that sends each of its requests once, and counts each.
    pub(crate) fn once(client: u32, requests: Vec<Request>) -> Stream {
        Stream {
            actions: (0..requests.len()).map(Action::Run).collect(),
            operations_per_round: requests.len() as u64,
            requests,
            end: End::Rounds(1),
            ..Stream::new(client, Class::DEFINE)
        }
    }

    /// A stream as [`new`](Stream::new) makes it, with one request, sent once in each round.
    pub fn repeating(client: u32, class: Class, request: impl Into<Request>) -> Stream {
        let (requests, actions) = (vec![request.into()], vec![Action::Run(0)]);
        Stream { requests, actions, ..Stream::new(client, class) }
    }

    /// True if it rests within a round.
    pub fn rests(&self) -> bool {
        let mixed = self.mix.iter().flat_map(|it| &it.actions);
        self.actions.iter().chain(mixed).any(|action| matches!(action, Action::Rest(_)))
    }
}

/// What a round of a stream may do. Such rounds are counted as a class of their own, too.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Alternative {
    /// Their class.
    pub class: Class,
    /// How often it is drawn in relation to the others.
    pub weight: u32,
    /// The actions, which name the stream's requests.
    pub actions: Vec<Action>,
    /// As [`Stream::adds_to`].
    pub adds_to: Option<Cell>,
    /// As [`Stream::finds`].
    pub finds: Option<Finds>,
}

/// A round that is known beforehand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// The place in the mix of what it counts as.
    pub alternative: u32,
    /// It begins on a new connection.
    pub connects: bool,
    /// It failed when it was first sent.
    pub failed: bool,
}

/// A round in the order between streams: of the transactions that change a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// The round, from 0.
    pub round: u64,
    /// The table, from 0.
    pub table: u32,
    /// Before the round: so many of the table's transactions, in their order, must have ended. At
    /// its end: the number of the transaction that ends with it, from 0.
    pub number: u64,
    /// A transaction ends with the round.
    pub ends: bool,
}

/// The rows that queries must find over a whole step.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Finds {
    /// At least this many per query on average.
    Mean(f64),
    /// For queries of ids drawn uniformly between two cells: the number that follows from the rows
    /// in the table. Some ids may be missing from the table: clients that share a sequence each
    /// take several ids at once, and leave gaps.
    Ids {
        /// Ids that one query asks for.
        ids: u32,
        /// Minimum number of rows in the table when the step began.
        rows: u64,
        /// The lowest id.
        low: Cell,
        /// The highest id.
        high: Cell,
        /// A cell with the number of rows inserted since the step began, if the same number of the
        /// oldest rows is deleted.
        deleted: Option<Cell>,
    },
}

impl Finds {
    /// Minimum number of rows that a query can currently be expected to find, averaged over its
    /// draws.
    pub fn least(&self, cell: impl Fn(Cell) -> i64) -> f64 {
        match *self {
            Finds::Mean(rows) => rows,
            Finds::Ids { ids, rows, low, high, deleted } => {
                let width = (cell(high).saturating_sub(cell(low)).saturating_add(1)).max(1) as f64;
                let deleted = deleted.map_or(0.0, |deleted| cell(deleted) as f64);
                // More rows than ids also means that some are missing.
                let rows = (rows as f64 - deleted).max(0.0);
                // A row is found unless none of the ids matches it; one drawn twice is found once.
                rows * (1.0 - (1.0 - 1.0 / width).powi(ids as i32))
            }
        }
    }

    /// Scatter of the rows of one query about their expectation: an upper bound on the standard
    /// deviation.
    pub fn scatter(&self) -> f64 {
        match *self {
            Finds::Mean(_) => 0.0,
            Finds::Ids { ids, .. } => f64::from(ids).sqrt() / 2.0,
        }
    }
}

/// The role of a stream: the step waits for it, or it runs in the background.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Role {
    /// The step ends when all of these have ended.
    Lead,
    /// Runs alongside and is stopped at the step's end.
    Background,
}

/// One action of a round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Action {
    /// Send the request with this index.
    Run(usize),
    /// Send one of the requests with these indexes, chosen uniformly.
    Choose(Vec<usize>),
    /// Send the requests with these indexes in turn, one in each round.
    InTurn(Vec<usize>),
    /// Send one of the requests with these indexes: a number kept for the round selects it, from 0.
    /// Several requests to the same table use it.
    Kept {
        /// Which of the numbers kept.
        number: usize,
        /// The requests.
        among: Vec<usize>,
    },
    /// Wait this many milliseconds, or until the step ends.
    Rest(u64),
}

/// When the next round of a stream may start.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Pace {
    /// As fast as answers arrive.
    Free,
    /// By a schedule with this many rounds per second. Latency counts from the scheduled time.
    Rate(f64),
    /// The same, but the time between two rounds is random: a Poisson process, as of pgbench's
    /// `--rate`.
    Poisson(f64),
    /// At these times after the step's start, in order. Latency counts from them.
    At(Arc<[Duration]>),
    /// Whenever `leader` is ahead of this stream's own operations by at least one round.
    Follow(Cell),
}

/// When a stream is done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum End {
    /// After this many rounds.
    Rounds(u64),
    /// When the step's time is over.
    Time,
    /// When the leading streams have ended and it has caught up with the cell it follows.
    CaughtUp,
}

/// A query whose single row sets shared cells: before the first round, then every `every` rounds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Refresh {
    /// Rounds between two refreshes.
    pub every: u32,
    /// The query; one row with as many integers as there are cells.
    pub statement: Statement,
    /// The cells its columns set, in order. A NULL leaves its cell as it is.
    pub into: Vec<Cell>,
}
