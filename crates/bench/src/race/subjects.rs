//! The steps in which builds race, and what makes their builds slower.

/// A step of a system whose builds race.
pub struct Subject {
    /// What the tables call it.
    pub shown: &'static str,
    /// The step, as plans and results call it.
    pub step: &'static str,
    /// What is slowed down.
    pub slowed: Slowed,
    /// The plan's settings for all variants, in TOML.
    pub settings: &'static str,
    /// The plan's workload, in TOML.
    pub workload: &'static str,
    /// What `steelyard count` counts to check the loop: `[count]`, in TOML.
    pub count: &'static str,
}

/// Where the loop is.
pub enum Slowed {
    /// In the source of PostgreSQL, before each statement.
    Source,
    /// In a function.
    Function(Function),
}

/// A function that each statement calls once. A library with the same function comes before the
/// true one: it runs the loop, then calls the true one.
pub struct Function {
    /// The version that is slowed down.
    pub reference: &'static str,
    /// The source of the library in C.
    pub code: &'static str,
    /// What needs the library.
    pub place: Place,
}

/// What needs the library with the loop.
#[derive(Clone, Copy)]
pub enum Place {
    /// A program of this name.
    Program(&'static str),
    /// Whoever loads the library whose name begins so: it gets this one, which needs that.
    Library(&'static str),
}

/// The loop in C, as the function `planted_loop`.
pub fn rounds_of(rounds: u32) -> String {
    include_str!("loop.c").replace("ROUNDS", &rounds.to_string())
}

pub static INSERT: Subject = Subject {
    shown: "PostgreSQL, `l.i0`",
    step: "l.i0",
    slowed: Slowed::Source,
    settings: "[config]\nshared_buffers = \"512MB\"\nmax_wal_size = \"4GB\"\n",
    workload: "[workload.insert]\nrows = 200_000\nsteps = [\"l.i0\"]\n",
    count: "kinds = [\"insert-100\"]\nprotocols = [\"simple\"]\n",
};

pub static UPDATE: Subject = Subject {
    shown: "PostgreSQL, `update-index`",
    step: "update-index",
    slowed: Slowed::Source,
    settings: "[config]\nshared_buffers = \"512MB\"\nmax_wal_size = \"4GB\"\n",
    workload: "[workload.sysbench]\nsteps = [\"update-index\"]\n",
    count: "kinds = [\"update-index\"]\nprotocols = [\"prepared\"]\n",
};

/// The table has 500 MB, and most of it is not in memory.
pub static READ: Subject = Subject {
    shown: "PostgreSQL, `point-query`, IO-bound",
    step: "point-query",
    slowed: Slowed::Source,
    settings: "memory_limit = \"96MB\"\n\n[config]\nshared_buffers = \"16MB\"\n\
               maintenance_work_mem = \"8MB\"\nmax_wal_size = \"4GB\"\n",
    workload: "[workload.sysbench]\ntables = 1\nrows = 2_000_000\nsteps = [\"point-query\"]\n",
    count: "kinds = [\"point-query\"]\nprotocols = [\"prepared\"]\n",
};

pub static INNODB: Subject = Subject {
    shown: "MySQL, `update-index`",
    step: "update-index",
    slowed: Slowed::Function(Function {
        reference: "mysql@8.0.31",
        code: include_str!("send.c"),
        place: Place::Program("mysqld"),
    }),
    settings: "[config]\ninnodb_buffer_pool_size = \"512M\"\n",
    workload: "[workload.sysbench]\nsteps = [\"update-index\"]\n",
    count: "kinds = [\"update-index\"]\nprotocols = [\"prepared\"]\n",
};

pub static PUTS: Subject = Subject {
    shown: "RocksDB, `overwrite`",
    step: "overwrite",
    slowed: Slowed::Function(Function {
        reference: "rocksdb@10.10.1",
        code: include_str!("put.c"),
        place: Place::Library("librocksdb"),
    }),
    settings: "",
    workload: "[workload.kv]\nsteps = [\"overwrite\"]\n",
    count: "kinds = [\"put\"]\n",
};
