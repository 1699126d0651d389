//! The contents of `[workload.kv]`.

use serde::Serialize;

use crate::key::StepNames;

/// The steps, in their usual order.
pub const KV_STEPS: [&str; 10] = [
    "fillseq",
    "readrandom",
    "multireadrandom",
    "fwdrange",
    "revrange",
    "overwritesome",
    "readwhilewriting",
    "fwdrangewhilewriting",
    "revrangewhilewriting",
    "overwrite",
];

/// Names of the same steps elsewhere.
pub(super) const ALIASES: [(&str, &str); 3] = [
    ("fillseq_disable_wal", "fillseq"),
    ("multireadrandom_batch10", "multireadrandom"),
    ("overwriteandwait", "overwrite"),
];

/// A step may run again, under its name and a suffix.
pub(super) const NAMES: StepNames =
    StepNames { known: &KV_STEPS, aliases: &ALIASES, suffixes: true };

/// The bytes of a key.
pub const KEY_BYTES: u32 = 20;

/// Settings of the key-value workload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KvPlan {
    /// Number of keys that fillseq writes.
    pub keys: u64,
    /// Bytes of a value; the seal of each takes 12.
    pub value_bytes: u32,
    /// Numbers of clients, each 1 to 10000, without repetition. fillseq always has one.
    pub dop: Vec<u32>,
    /// Where the data is when it is read.
    pub mode: KvMode,
    /// Bytes of the engine's cache; `None`: as the mode needs.
    pub cache: Option<u64>,
    /// Threads of the engine for flushes and compactions.
    pub background_jobs: u32,
    /// Steps in the order in which they run, canonical names.
    pub steps: Vec<String>,
    /// Duration of each step that ends by time, in seconds, ≥ 1.
    pub seconds: u32,
    /// Percent of the keys that overwritesome writes.
    pub overwrite_percent: u32,
    /// Keys of one call in multireadrandom.
    pub multiget_keys: u32,
    /// Pairs read from where a range begins.
    pub range_pairs: u32,
    /// Bytes per second that the writer of `…whilewriting` writes, keys included.
    pub write_rate: Option<u64>,
}

/// Where the data is when it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum KvMode {
    /// In the engine's cache, which holds all data.
    #[default]
    Byrx,
    /// In the page cache of the operating system; the engine's own is small.
    Byos,
    /// On storage, read through the page cache.
    Iobuf,
    /// On storage, read directly.
    Iodir,
    /// On storage, in files that are mapped into memory.
    Mmap,
}

impl KvMode {
    /// All of them, with their names in a plan.
    pub const NAMED: [(&'static str, KvMode); 5] = [
        ("byrx", KvMode::Byrx),
        ("byos", KvMode::Byos),
        ("iobuf", KvMode::Iobuf),
        ("iodir", KvMode::Iodir),
        ("mmap", KvMode::Mmap),
    ];
}

impl Default for KvPlan {
    /// All steps on a million keys, one client, 10 s per timed step, cached by the engine.
    fn default() -> Self {
        KvPlan {
            keys: 1_000_000,
            value_bytes: 400,
            dop: vec![1],
            mode: KvMode::Byrx,
            cache: None,
            background_jobs: 2,
            steps: KV_STEPS.map(str::to_owned).into(),
            seconds: 10,
            overwrite_percent: 10,
            multiget_keys: 10,
            range_pairs: 10,
            write_rate: Some(2 << 20),
        }
    }
}

impl KvPlan {
    /// Bytes of all keys and values.
    pub fn bytes(&self) -> u64 {
        self.keys.saturating_mul(u64::from(KEY_BYTES + self.value_bytes))
    }

    /// Number of keys that overwritesome writes, at least 1.
    pub fn overwritten(&self) -> u64 {
        (self.keys.saturating_mul(u64::from(self.overwrite_percent)) / 100).max(1)
    }
}

/// The test that a step runs: its name without the suffix.
pub fn kv_test(step: &str) -> &str {
    NAMES.test(step)
}
