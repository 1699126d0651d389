//! The contents of `[workload.tpcc]`.

use serde::Serialize;

use crate::key::StepNames;

/// The steps, in their usual order.
pub const TPCC_STEPS: [&str; 3] = ["load", "index", "mix"];

pub(super) const NAMES: StepNames = StepNames { known: &TPCC_STEPS, aliases: &[], suffixes: false };

/// Fewest seconds of a step in which clients think.
pub(super) const THINKING: u32 = 60;

/// Settings of the transactions derived from TPC-C.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TpccPlan {
    /// Number of warehouses, 1 to 100,000.
    pub warehouses: u32,
    /// Numbers of clients, each 1 to 10000, without repetition.
    pub dop: Vec<u32>,
    /// Clients that load.
    pub load_dop: u32,
    /// Steps in the order in which they run.
    pub steps: Vec<String>,
    /// Seconds of each mix.
    pub seconds: u32,
    /// The warehouse of a client.
    pub home: Home,
    /// How transactions reach the server.
    pub mode: TpccMode,
    /// Clients type and think, as the specification says.
    pub think: bool,
    /// The isolation of transactions; the server's usual one if `None`.
    pub isolation: Option<Isolation>,
    /// Statements are prepared.
    pub prepared: bool,
    /// The conditions of the specification are checked.
    pub check: bool,
}

/// The warehouse that a client works for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Home {
    /// Always the same; clients are spread over all warehouses.
    Fixed,
    /// Another in each transaction.
    Any,
}

impl Home {
    /// All of them, with their names in a plan.
    pub(super) const NAMED: [(&'static str, Home); 2] =
        [("fixed", Home::Fixed), ("any", Home::Any)];
}

/// How transactions reach the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TpccMode {
    /// Statement by statement.
    Statements,
    /// Each as a call of a procedure that is stored in the server.
    Procedures,
}

impl TpccMode {
    /// All of them, with their names in a plan.
    pub(super) const NAMED: [(&'static str, TpccMode); 2] =
        [("statements", TpccMode::Statements), ("procedures", TpccMode::Procedures)];
}

/// The isolation of transactions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Isolation {
    /// A statement sees what was committed before it began.
    #[serde(rename = "read committed")]
    ReadCommitted,
    /// A transaction sees what was committed before it began.
    #[serde(rename = "repeatable read")]
    RepeatableRead,
    /// As if transactions ran one after another.
    #[serde(rename = "serializable")]
    Serializable,
}

impl Isolation {
    /// All of them, with their names in a plan.
    pub(super) const NAMED: [(&'static str, Isolation); 3] = [
        ("read committed", Isolation::ReadCommitted),
        ("repeatable read", Isolation::RepeatableRead),
        ("serializable", Isolation::Serializable),
    ];

    /// The name in SQL.
    pub fn sql(self) -> &'static str {
        match self {
            Isolation::ReadCommitted => "READ COMMITTED",
            Isolation::RepeatableRead => "REPEATABLE READ",
            Isolation::Serializable => "SERIALIZABLE",
        }
    }
}

impl Default for TpccPlan {
    /// All steps on one warehouse, one client, 10 s.
    fn default() -> Self {
        TpccPlan {
            warehouses: 1,
            dop: vec![1],
            load_dop: 2,
            steps: TPCC_STEPS.map(str::to_owned).into(),
            seconds: 10,
            home: Home::Fixed,
            mode: TpccMode::Statements,
            think: false,
            isolation: None,
            prepared: true,
            check: true,
        }
    }
}
