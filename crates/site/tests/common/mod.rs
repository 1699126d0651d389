//! Stores of many experiments: nightly runs of several workloads on several machines over years, as
//! a team has them. Written with SQL, because the store would wait for the disk at every step.

use std::path::Path;

use rusqlite::{Connection, Statement, params};
use store::Store;

/// 2023-11-14 22:00 UTC.
const START: i64 = 1_700_000_000_000;
const DAY: i64 = 86_400_000;
/// Metrics of every step, with a typical value.
const METRICS: [(&str, f64); 12] = [
    ("o/s", 10_000.0),
    ("cpu/o", 0.002),
    ("cs/o", 5.0),
    ("r/o", 0.1),
    ("rKB/o", 1.5),
    ("wKB/o", 24.0),
    ("dbms.cpu/o", 80.0),
    ("client.cpu/o", 9.0),
    ("seconds", 10.0),
    ("query.p50", 90.0),
    ("query.p99", 300.0),
    ("query.max", 20_000.0),
];
/// The first numbers of names that are no metrics.
const STEP_NAMES: i64 = 1000;
const SERIES_NAME: i64 = 2000;

/// What a store has.
pub struct Size {
    pub experiments: usize,
    pub machines: usize,
    /// Steps that the plan runs, with each number of clients.
    pub steps: &'static [&'static str],
    pub dops: &'static [u32],
    pub blocks: u32,
    /// Seconds of throughput that are kept of each step.
    pub seconds: usize,
}

/// A few experiments.
pub const SMALL: Size = Size {
    experiments: 6,
    machines: 2,
    steps: &["l.i0", "l.x", "qr100"],
    dops: &[1],
    blocks: 6,
    seconds: 5,
};

/// Every tenth experiment has a regression of this size in its first step.
const SLOWER: f64 = 0.9;

/// Adds experiments `from..size.experiments` to the store in a directory, which is created if there
/// is none.
pub fn fill(folder: &Path, size: &Size, from: usize) {
    drop(Store::open(folder).unwrap());
    let connection = Connection::open(folder.join(store::DATABASE)).unwrap();
    connection.execute_batch("PRAGMA synchronous = off; BEGIN").unwrap();
    if from == 0 {
        begin(&connection, size);
    }
    let mut writer = Writer::new(&connection);
    for number in from..size.experiments {
        writer.experiment(size, number);
    }
    drop(writer);
    connection.execute_batch("COMMIT").unwrap();
}

/// Names, measures and machines.
fn begin(connection: &Connection, size: &Size) {
    let name = |id: i64, text: &str| {
        connection
            .execute("INSERT INTO name (id, text) VALUES (?1, ?2)", params![id, text])
            .unwrap();
    };
    (1..).zip(METRICS).for_each(|(id, (text, _))| name(id, text));
    (STEP_NAMES..).zip(size.steps).for_each(|(id, text)| name(id, text));
    name(SERIES_NAME, "tp.insert");
    for (id, class, unit) in [(1, "insert", "rows"), (2, "define", "rows"), (3, "query", "queries")]
    {
        let sql = "INSERT INTO measure VALUES (?1, ?2, ?3, 'more', 1, '{}')";
        connection.execute(sql, params![id, class, unit]).unwrap();
    }
    for machine in 0..size.machines {
        let set = machine as i64 + 1;
        connection.execute("INSERT INTO host_set VALUES (?1, ?1)", [set]).unwrap();
        let facts = [
            ("cpu", "model", format!("Example <CPU> {}", machine % 3)),
            ("cpu", "cores", "8".to_owned()),
            ("cpu", "threads", "16".to_owned()),
            ("memory", "total", "64 GB".to_owned()),
            ("system", "kernel", "6.1.0".to_owned()),
            ("system", "machine id", format!("{machine:08x}{machine:08x}")),
            ("storage", "file system", "ext4".to_owned()),
        ];
        for (ordinal, (group, name, value)) in (0i64..).zip(facts) {
            let sql = "INSERT INTO host_fact VALUES (?1, ?2, ?3, ?4, ?5)";
            connection.execute(sql, params![set, ordinal, group, name, value]).unwrap();
        }
    }
}

struct Writer<'c> {
    connection: &'c Connection,
    trial: Statement<'c>,
    step: Statement<'c>,
    metric: Statement<'c>,
    series: Statement<'c>,
    steps: i64,
}

impl<'c> Writer<'c> {
    fn new(connection: &'c Connection) -> Self {
        let prepare = |sql| connection.prepare(sql).unwrap();
        Self {
            connection,
            trial: prepare(
                "INSERT INTO trial (experiment_id, variant_id, block, position, sequence, attempt, state, started_ms, \
                 ended_ms, host_set_id) VALUES (?1, ?2, ?3, ?4, ?5, 1, 'finished', ?6, ?7, ?8)",
            ),
            step: prepare(
                "INSERT INTO step VALUES (?1, ?2, ?3, ?4, ?5, 'measured', 'finished', ?6, 10, ?7, ?8, '[]', '[]')",
            ),
            metric: prepare("INSERT INTO metric VALUES (?1, ?2, ?3)"),
            series: prepare(
                "INSERT INTO series (step_id, name_id, label, unit, grp, encoding, \"values\") \
                 VALUES (?1, ?2, 'inserts', '/s', 'throughput', 'f32', ?3)",
            ),
            steps: connection
                .query_row("SELECT coalesce(max(id), 0) FROM step", [], |row| row.get(0))
                .unwrap(),
        }
    }

    /// Two versions that were compared in one night.
    fn experiment(&mut self, size: &Size, number: usize) {
        let machine = number % size.machines;
        let shape = (number / size.machines) % 3;
        let began = START + DAY * (number / size.machines) as i64;
        let minor = number / (size.machines * 5);
        let variants = [
            ("base".to_owned(), "13.7".to_owned()),
            (format!("pg14.{minor}"), format!("14.{minor}")),
        ];
        let plan = plan(size, &variants, [100_000, 1_000_000, 10_000_000][shape]);
        let id = self.insert(
            "INSERT INTO experiment (name, workload, base, seed, blocks, margin, plan, steelyard, created_ms, ended_ms, \
             state, host_set_id) VALUES (?1, 'insert', 'base', 42, ?2, 0.02, ?3, '0.1.0', ?4, ?5, 'finished', ?6)",
            params![
                format!("nightly-{shape}"),
                size.blocks,
                plan,
                began,
                began + 3_600_000,
                machine as i64 + 1
            ],
        );
        let variants = [0, 1].map(|place| {
            let (name, version): &(String, String) = &variants[place];
            self.insert(
                "INSERT INTO variant (experiment_id, position, name, dbms, source, version, build, config) \
                 VALUES (?1, ?2, ?3, 'postgres@' || ?4, 'archive', ?4, '{}', '{}')",
                params![id, place as i64, name, version],
            )
        });
        for (sequence, dop) in size.dops.iter().enumerate() {
            for block in 1..=size.blocks {
                for (place, variant) in variants.iter().enumerate() {
                    let started = began + i64::from(block) * 60_000;
                    self.trial
                        .execute(params![
                            id,
                            variant,
                            block,
                            place as i64 + 1,
                            dop,
                            started,
                            started + 50_000,
                            machine as i64 + 1
                        ])
                        .unwrap();
                    let trial = self.connection.last_insert_rowid();
                    let seed = (number * 31 + sequence) * 1000 + block as usize * 10 + place;
                    let slower = number % 10 == 3 && place == 1;
                    self.steps_of(size, trial, *dop, started, seed, slower);
                }
            }
        }
    }

    fn steps_of(
        &mut self,
        size: &Size,
        trial: i64,
        dop: u32,
        started: i64,
        seed: usize,
        slower: bool,
    ) {
        for (ordinal, name) in size.steps.iter().enumerate() {
            self.steps += 1;
            let wobble = 1.0 + 0.004 * (noise(seed * 100 + ordinal) - 0.5);
            let level = if slower && ordinal == 0 { SLOWER } else { 1.0 } * wobble;
            let measure = if *name == "l.x" {
                2
            } else if name.starts_with('q') {
                3
            } else {
                1
            };
            self.step
                .execute(params![
                    self.steps,
                    trial,
                    ordinal as i64,
                    STEP_NAMES + ordinal as i64,
                    dop,
                    started,
                    (100_000.0 * level) as i64,
                    measure
                ])
                .unwrap();
            for (metric, (name, value)) in (1i64..).zip(METRICS) {
                let value = if name == "o/s" { value * level } else { value / wobble };
                self.metric.execute(params![self.steps, metric, value]).unwrap();
            }
            if size.seconds > 0 {
                let rate = |second: usize| 10_000.0 * level * (0.98 + 0.04 * noise(seed + second));
                let bytes: Vec<u8> = (0..size.seconds)
                    .flat_map(|second| (rate(second) as f32).to_le_bytes())
                    .collect();
                self.series.execute(params![self.steps, SERIES_NAME, bytes]).unwrap();
            }
        }
    }

    fn insert(&self, sql: &str, values: impl rusqlite::Params) -> i64 {
        self.connection.execute(sql, values).unwrap();
        self.connection.last_insert_rowid()
    }
}

/// From 0 to 1, the same for the same number (splitmix64).
fn noise(number: usize) -> f64 {
    let mut mixed = (number as u64).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

fn plan(size: &Size, variants: &[(String, String)], rows: u64) -> String {
    let mut text = format!("name = \"nightly\"\nblocks = {}\nbase = \"base\"\n", size.blocks);
    for (name, version) in variants {
        text.push_str(&format!("[variants.\"{name}\"]\ndbms = \"postgres@{version}\"\n"));
    }
    text.push_str(&format!(
        "[workload.insert]\nrows = {rows}\nsteps = {:?}\ndop = {:?}\n",
        size.steps, size.dops
    ));
    text
}
