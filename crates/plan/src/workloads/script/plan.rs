//! The contents of `[workload.script]`.

use std::collections::BTreeMap;

use script::{Protocol as Sending, Script, ScriptError, Symbols};

use crate::count::Protocol;

/// Settings of a workload of pgbench scripts.
#[derive(Debug, Clone, PartialEq)]
pub struct ScriptPlan {
    /// The scripts, in the order given.
    pub sources: Vec<Source>,
    /// Numbers of clients, each 1 to 10000, without repetition.
    pub clients: Vec<u32>,
    /// How statements are sent.
    pub protocol: Vec<Protocol>,
    /// Seconds of each step.
    pub seconds: u32,
    /// Seconds to warm up before the first of them; 0: none.
    pub warm_seconds: u32,
    /// Transactions per second of all clients together; `None`: as fast as they can.
    pub rate: Option<f64>,
    /// How often a transaction is tried in all; 0: until it succeeds.
    pub max_tries: u32,
    /// Milliseconds that a transaction may take.
    pub latency_limit: Option<f64>,
    /// Variables with their values, as text.
    pub define: BTreeMap<String, String>,
    /// The steps of `pgbench -i` that make and fill its tables; may be empty.
    pub init: String,
    /// The steps that are judged, by name. Those that `init` makes run anyway.
    pub steps: Vec<String>,
    /// The value of `:scale`, and the size of pgbench's tables.
    pub scale: u64,
    /// Name of a file with SQL that makes other tables, as written in the plan.
    pub setup_file: Option<String>,
    /// Its text.
    pub setup_text: Option<String>,
    /// Files as written in the plan, `x.sql@3`, while it is read.
    pub(super) files: Vec<String>,
    /// Built-in scripts as written in the plan, while it is read.
    pub(super) builtin: Vec<String>,
    /// The texts of the files, while the plan is read.
    pub(super) texts: Vec<String>,
}

/// Its numbers have bounds, which no NaN is in.
impl Eq for ScriptPlan {}

/// A script as the plan names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Its file, or the name of a built-in script.
    pub name: Option<String>,
    /// How often it is chosen in relation to the others.
    pub weight: u32,
    /// True if it comes with pgbench.
    pub built_in: bool,
    /// Its text, once it was read.
    pub text: Option<String>,
}

impl Default for ScriptPlan {
    /// pgbench's tables at scale 50, prepared statements, one client for 10 s.
    fn default() -> Self {
        ScriptPlan {
            sources: Vec::new(),
            clients: vec![1],
            protocol: vec![Protocol::Prepared],
            seconds: 10,
            warm_seconds: 5,
            rate: None,
            max_tries: 1,
            latency_limit: None,
            define: BTreeMap::new(),
            init: "dtgvp".to_owned(),
            steps: vec![ScriptPlan::SCRIPT.to_owned()],
            scale: 50,
            setup_file: None,
            setup_text: None,
            files: Vec::new(),
            builtin: Vec::new(),
            texts: Vec::new(),
        }
    }
}

impl ScriptPlan {
    /// The step that fills pgbench's tables.
    pub const LOAD: &str = "load";
    /// The one that vacuums them.
    pub const VACUUM: &str = "vacuum";
    /// The one that makes their primary keys.
    pub const PRIMARY_KEYS: &str = "primary-keys";
    /// The one that makes their foreign keys.
    pub const FOREIGN_KEYS: &str = "foreign-keys";
    /// The one that runs the scripts before it counts.
    pub const WARM: &str = "script.warm";
    /// The one that runs the scripts.
    pub const SCRIPT: &str = "script";

    /// The step of a letter of [`ScriptPlan::init`]; `None`: it is not a separate step.
    pub fn init_step(letter: char) -> Option<&'static str> {
        match letter {
            'g' | 'G' => Some(ScriptPlan::LOAD),
            'v' => Some(ScriptPlan::VACUUM),
            'p' => Some(ScriptPlan::PRIMARY_KEYS),
            'f' => Some(ScriptPlan::FOREIGN_KEYS),
            _ => None,
        }
    }

    /// The scripts, parsed and checked, each with its weight, and their variables.
    ///
    /// # Errors
    /// [`ScriptError`] with the place of the first mistake.
    pub fn parsed(&self) -> Result<(Vec<(Script, u32)>, Symbols), ScriptError> {
        let mut symbols = Symbols::new();
        for name in self.define.keys() {
            symbols.define(name);
        }
        let mut scripts = Vec::new();
        for source in &self.sources {
            let (Some(name), Some(text)) = (&source.name, &source.text) else { continue };
            scripts.push((script::parse(name, text, &mut symbols)?, source.weight));
        }
        let all: Vec<Script> = scripts.iter().map(|(script, _)| script.clone()).collect();
        for protocol in &self.protocol {
            let sending = match protocol {
                Protocol::Simple => Sending::Simple,
                _ => Sending::Extended,
            };
            script::check(&all, &symbols, sending)?;
        }
        Ok((scripts, symbols))
    }
}
