//! The contents of `[workload.select]`.

use serde::{Deserialize, Serialize};

use crate::count::Protocol;
use crate::step::Labels;

/// Most idle-priority processes, for each CPU or in all.
pub(super) const MOST_IDLE: u32 = 10_000;

/// Settings of the sweep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelectPlan {
    /// 100,000 rows each, as in pgbench.
    pub scale: u64,
    /// Clients that load.
    pub load_dop: u32,
    /// The steps that are judged, by name. The others run anyway.
    pub steps: Vec<String>,
    /// Numbers of clients, each 1 to 10000, without repetition.
    pub clients: Vec<u32>,
    /// How the statement is sent.
    pub protocol: Vec<Protocol>,
    /// Where clients and their servers run.
    pub pinning: Vec<Pinning>,
    /// How clients reach the server.
    pub transport: Vec<Transport>,
    /// Queries that are sent before an answer is awaited.
    pub pipeline: Vec<u32>,
    /// Idle-priority processes that run alongside the load.
    pub idle: Vec<IdleThreads>,
    /// Second of a point from which these run, if not from its start.
    pub idle_from: Option<u32>,
    /// Second until which they run, if not until its end.
    pub idle_to: Option<u32>,
    /// Seconds of each point.
    pub seconds: u32,
    /// Seconds to warm up before the first point; 0: none.
    pub warm_seconds: u32,
    /// Seconds after each point in which the scheduler's events are counted, 0: none; `None`: one,
    /// where they can be.
    pub counter_seconds: Option<u32>,
}

impl Default for SelectPlan {
    /// One client on 5 million rows, prepared, where the kernel puts it, 5 s.
    fn default() -> Self {
        SelectPlan {
            scale: 50,
            load_dop: 2,
            steps: vec![SelectPlan::SELECT.to_owned()],
            clients: vec![1],
            protocol: vec![Protocol::Prepared],
            pinning: vec![Pinning::None],
            transport: vec![Transport::Unix],
            pipeline: vec![1],
            idle: vec![IdleThreads::Number(0)],
            idle_from: None,
            idle_to: None,
            seconds: 5,
            warm_seconds: 5,
            counter_seconds: None,
        }
    }
}

/// Where a client and the process that serves it run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pinning {
    /// Where the kernel puts them.
    None,
    /// Both on the same CPU.
    Colocated,
    /// On two cores drawn at random.
    Random,
    /// On the two threads of a core.
    Smt,
    /// On two cores that share an L3 cache.
    Ccx,
    /// On two cores of one NUMA node.
    Node,
}

impl Pinning {
    /// All of them, with their names.
    pub const NAMED: [(&'static str, Pinning); 6] = [
        ("none", Pinning::None),
        ("colocated", Pinning::Colocated),
        ("random", Pinning::Random),
        ("smt", Pinning::Smt),
        ("ccx", Pinning::Ccx),
        ("node", Pinning::Node),
    ];
}

/// How clients reach a server of ours.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Transport {
    /// Through a unix socket.
    #[default]
    Unix,
    /// Through TCP on the loopback interface.
    Tcp,
    /// Through TCP between two network namespaces.
    Veth,
}

impl Transport {
    /// All of them, with their names.
    pub const NAMED: [(&'static str, Transport); 3] =
        [("unix", Transport::Unix), ("tcp", Transport::Tcp), ("veth", Transport::Veth)];
}

/// A number of idle-priority processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum IdleThreads {
    /// This many.
    Number(u32),
    /// This many for each CPU that steelyard may use.
    PerCpu(u32),
}

impl IdleThreads {
    /// Their number on a machine with this many CPUs.
    pub fn on(self, cpus: usize) -> usize {
        match self {
            IdleThreads::Number(threads) => threads as usize,
            IdleThreads::PerCpu(threads) => threads as usize * cpus,
        }
    }
}

/// As in a plan: a number, `"cpus"`, or `"2*cpus"`.
impl std::fmt::Display for IdleThreads {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            IdleThreads::Number(threads) => write!(f, "{threads}"),
            IdleThreads::PerCpu(1) => f.write_str("cpus"),
            IdleThreads::PerCpu(threads) => write!(f, "{threads}*cpus"),
        }
    }
}

impl From<IdleThreads> for String {
    fn from(threads: IdleThreads) -> String {
        threads.to_string()
    }
}

impl TryFrom<String> for IdleThreads {
    type Error = String;

    fn try_from(text: String) -> Result<IdleThreads, String> {
        let number = |digits: &str| digits.parse().ok().filter(|n: &u32| *n <= MOST_IDLE);
        let threads = match text.strip_suffix("cpus") {
            None => number(&text).map(IdleThreads::Number),
            Some("") => Some(IdleThreads::PerCpu(1)),
            Some(factor) => factor.strip_suffix('*').and_then(number).map(IdleThreads::PerCpu),
        };
        threads.ok_or_else(|| format!("expected a number, \"cpus\" or \"2*cpus\", found `{text}`"))
    }
}

/// One point of a sweep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Point {
    /// Number of clients.
    pub clients: u32,
    /// How the statement is sent.
    pub protocol: Protocol,
    /// Where clients and their servers run.
    pub pinning: Pinning,
    /// How clients reach the server.
    pub transport: Transport,
    /// Queries that are sent before an answer is awaited.
    pub pipeline: u32,
    /// Idle-priority processes that run alongside the load.
    pub idle: IdleThreads,
    /// Labels that distinguish it from other points with as many clients: the values that the plan
    /// varies, or sets differently from the default.
    pub labels: Labels,
}

impl SelectPlan {
    /// The step that fills the table.
    pub const LOAD: &str = "load";
    /// The one that makes the primary key.
    pub const INDEX: &str = "index";
    /// The one that reads once before it counts.
    pub const WARM: &str = "select.warm";
    /// The points.
    pub const SELECT: &str = "select";

    /// Rows of the table.
    pub fn rows(&self) -> u64 {
        self.scale.saturating_mul(100_000)
    }

    /// The points, in the order of tables; they are visited in another.
    pub fn points(&self) -> Vec<Point> {
        let usual = SelectPlan::default();
        let mut points = Vec::new();
        for &clients in &self.clients {
            for &protocol in &self.protocol {
                for &pinning in &self.pinning {
                    for &transport in &self.transport {
                        for &pipeline in &self.pipeline {
                            for &idle in &self.idle {
                                let labels = Labels::new();
                                points.push(Point {
                                    clients,
                                    protocol,
                                    pinning,
                                    transport,
                                    pipeline,
                                    idle,
                                    labels,
                                });
                            }
                        }
                    }
                }
            }
        }
        for point in &mut points {
            let mut label = |name: &str, varied: bool, value: String| {
                if varied {
                    point.labels.insert(name.to_owned(), value);
                }
            };
            let protocol = point.protocol.as_str().to_owned();
            label("protocol", self.protocol != usual.protocol, protocol);
            let pinning = name_of(point.pinning, &Pinning::NAMED);
            label("pinning", self.pinning != usual.pinning, pinning);
            let transport = name_of(point.transport, &Transport::NAMED);
            label("transport", self.transport != usual.transport, transport);
            label("pipeline", self.pipeline != usual.pipeline, point.pipeline.to_string());
            label("idle", self.idle != usual.idle, point.idle.to_string());
        }
        points
    }
}

/// The name of a value.
fn name_of<T: PartialEq>(value: T, named: &[(&str, T)]) -> String {
    named.iter().find(|(_, known)| *known == value).map_or("", |(name, _)| *name).to_owned()
}
