//! Figures that were published, from the files in `published/`, with all the digits printed.

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::printed::Printed;

/// The files of [`Sysbench`], [`Variance`], [`Postgres`], [`OnlyRelative`] and [`Idle`].
pub const SYSBENCH: &str = include_str!("../published/sysbench-postgres-15-18.toml");
pub const VARIANCE: &str = include_str!("../published/rocksdb-variance.toml");
pub const POSTGRES: &str = include_str!("../published/postgres-2022.toml");
pub const ONLY_RELATIVE: &str = include_str!("../published/only-relative.toml");
pub const IDLE: &str = include_str!("../published/pgbench-idle.toml");

/// A row of a printed table: a name and its figures.
pub type Row = Vec<String>;

/// `published/sysbench-postgres-15-18.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sysbench {
    /// The post.
    pub post: String,
    /// Tables of which both the absolute and the relative stand.
    pub pair: Vec<Pair>,
    /// Throughput of all tests relative to the first version.
    pub summary: Summary,
    /// Changes told in prose.
    pub changes: Changes,
}

/// An absolute table with the one relative to its first row.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pair {
    /// The test.
    pub name: String,
    /// Names of the figures.
    pub columns: Vec<String>,
    /// A version and its figures.
    pub absolute: Vec<Row>,
    /// The same relative to the first row of `absolute`.
    pub relative: Vec<Row>,
}

/// One relative table over tests.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    /// The columns.
    pub versions: Vec<String>,
    /// A test and its figures.
    pub rows: Vec<Row>,
}

/// Changes from one row of a table to another.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Changes {
    /// Name of the table.
    pub pair: String,
    /// The row from which.
    pub from: String,
    /// The row to which.
    pub to: String,
    /// A figure and its change in percent.
    pub percent: Vec<Row>,
}

/// `published/rocksdb-variance.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variance {
    /// The post.
    pub post: String,
    /// Runs behind each figure.
    pub runs: u32,
    /// The largest coefficient of variation that is good.
    pub limit: f64,
    /// The servers.
    pub server: Vec<Server>,
}

/// One server of [`Variance`].
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Server {
    /// Its name.
    pub name: String,
    /// Numbers of client threads.
    pub dop: Vec<u32>,
    /// The largest coefficient for each, database cached.
    pub cached: Row,
    /// The largest coefficient for each, database larger than memory.
    pub io_bound: Row,
    /// Those of `dop` in the published list of setups to choose.
    pub chosen: Vec<u32>,
}

/// `published/postgres-2022.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Postgres {
    /// The post, for tables that name no other.
    pub post: String,
    /// Averages and the same per query.
    pub per_query: PerQuery,
    /// Percentages of a whole.
    pub shares: Rows,
    /// Index, relation and total.
    pub sizes: Rows,
    /// How long creating indexes took.
    pub create_index: CreateIndex,
}

/// Averages, and the same divided by the first.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PerQuery {
    /// The post.
    pub post: String,
    /// Names of the figures, the divisor first.
    pub columns: Vec<String>,
    /// By what a quotient was multiplied, as its size tells.
    pub factors: Vec<f64>,
    /// The factor by which the last two differ, according to the post.
    pub factor_named: f64,
    /// Averages.
    pub averages: Vec<Row>,
    /// Quotients.
    pub divided: Vec<Row>,
}

/// `published/only-relative.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OnlyRelative {
    /// Tables without absolute figures.
    pub table: Vec<Relative>,
}

/// A relative table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Relative {
    /// The post.
    pub post: String,
    /// The value that the figures are relative to.
    pub base: String,
    /// The steps.
    pub columns: Vec<String>,
    /// A version and its figures.
    pub rows: Vec<Row>,
}

/// Any rows.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rows {
    /// A name and its figures.
    pub rows: Vec<Row>,
}

/// Samples of a second, and average CPU.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CreateIndex {
    /// Version, number of samples, percent of user CPU.
    pub rows: Vec<Row>,
    /// By how many percent the second is slower.
    pub percent: String,
}

/// `published/pgbench-idle.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Idle {
    /// The post.
    pub post: String,
    /// Number of clients.
    pub clients: u32,
    /// Throughput and mean latency (ms), second by second.
    pub seconds: Vec<Row>,
}

/// The data of one of these files.
///
/// # Panics
/// If it doesn't have that shape.
pub fn read<T: DeserializeOwned>(text: &str) -> T {
    toml::from_str(text).expect("a file of this crate")
}

/// A figure of these files.
pub fn figure(text: &str) -> Printed {
    Printed::parse(text).expect("a figure in a file of this crate")
}

/// The figures of a row, without its name.
pub fn figures_of(row: &[String]) -> Vec<Printed> {
    row.iter().skip(1).map(|text| figure(text)).collect()
}

/// The row with a name.
pub fn row<'a>(rows: &'a [Row], name: &str) -> Option<&'a Row> {
    rows.iter().find(|row| row.first().is_some_and(|first| first == name))
}
