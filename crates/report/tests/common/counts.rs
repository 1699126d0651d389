//! Made-up instruction counts in a real store: functions of three phases whose costs are known.

use std::collections::BTreeMap;

use store::{
    CountFunction, CountPhase, CountRecord, ExperimentId, INSTRUCTIONS, NewExperiment, NewVariant,
    Purpose, Store, VariantId, Warning,
};

use super::START;

/// Name, object, phase, own instructions per statement, the same per row.
type Cost = (&'static str, &'static str, &'static str, u64, u64);

/// The cost of a statement in the base.
pub const BASE: [Cost; 12] = [
    ("base_yyparse", "postgres", "parse", 900, 210),
    ("core_yylex", "postgres", "parse", 700, 160),
    ("transformStmt", "postgres", "analyze", 1100, 130),
    ("exprType", "postgres", "analyze", 300, 90),
    ("standard_planner", "postgres", "plan", 2600, 60),
    ("create_plan", "postgres", "plan", 800, 25),
    ("ExecInterpExpr", "postgres", "execute", 400, 310),
    ("ExecModifyTable", "postgres", "execute", 350, 95),
    ("heap_insert", "postgres", "execute", 500, 480),
    ("palloc", "postgres", "execute", 620, 140),
    ("__memcpy_avx_unaligned_erms", "libc.so.6", "execute", 150, 75),
    ("PostgresMain", "postgres", "other", 1800, 0),
];

/// A count of 100 statements of `rows` rows each, by the costs of a build.
pub fn record(kind: &str, rows: u64, costs: &[Cost]) -> CountRecord {
    const STATEMENTS: u64 = 100;
    let own = |(_, _, _, fixed, each): &Cost| STATEMENTS * (fixed + rows.max(1) * each);
    let in_phase =
        |phase: &str| -> u64 { costs.iter().filter(|cost| cost.2 == phase).map(own).sum() };
    let total: u64 = costs.iter().map(own).sum();
    let function = |cost: &Cost| CountFunction {
        name: cost.0.to_owned(),
        object: cost.1.to_owned(),
        own: own(cost),
        // The first function of a phase calls the others.
        inclusive: match costs.iter().find(|first| first.2 == cost.2) {
            Some(first) if first.0 == cost.0 && cost.2 != "other" => in_phase(cost.2),
            _ if cost.2 == "other" => total,
            _ => own(cost),
        },
        calls: if cost.4 == 0 { 1 } else { STATEMENTS * rows.max(1) },
    };
    CountRecord {
        kind: kind.to_owned(),
        protocol: "simple".to_owned(),
        place: "backend".to_owned(),
        event: INSTRUCTIONS.to_owned(),
        statements: STATEMENTS,
        rows: STATEMENTS * rows,
        total,
        counts: vec![total, total + 1],
        phases: ["parse", "analyze", "plan", "execute", "other"]
            .map(|name| CountPhase { name: name.to_owned(), total: in_phase(name) })
            .to_vec(),
        functions: costs.iter().map(function).collect(),
    }
}

/// The costs of another build: each function's may be changed.
pub fn build(change: impl Fn(&mut Cost)) -> Vec<Cost> {
    let mut costs = BASE.to_vec();
    costs.iter_mut().for_each(change);
    costs
}

pub struct Counting {
    pub store: Store,
    pub experiment: ExperimentId,
    pub variants: Vec<VariantId>,
    _directory: tempfile::TempDir,
}

impl Counting {
    /// A count of these variants, the first being the base, with nothing counted yet.
    pub fn new(variants: &[&str]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open(directory.path()).unwrap();
        let experiment = begin(&store, variants[0]);
        let variants = variants.iter().map(|name| add(&store, experiment, name)).collect();
        Self { store, experiment, variants, _directory: directory }
    }

    pub fn record(&self, place: usize, record: &CountRecord) {
        self.store.record_count(self.variants[place], record).unwrap();
    }

    /// Counts the kinds of every build; `None` leaves a variant out.
    pub fn all(&self, kinds: &[(&str, u64)], builds: &[Option<Vec<Cost>>]) {
        for (kind, rows) in kinds {
            for (place, costs) in builds.iter().enumerate() {
                if let Some(costs) = costs {
                    self.record(place, &record(kind, *rows, costs));
                }
            }
        }
    }

    pub fn warn(&self, code: &str, text: &str) {
        let warning = Warning { code: code.to_owned(), text: text.to_owned() };
        self.store.warn(self.experiment, None, &warning).unwrap();
    }

    pub fn report(&self) -> report::CountReport {
        self.report_with(&options())
    }

    pub fn report_with(&self, options: &report::CountOptions) -> report::CountReport {
        report::count(&self.store, self.experiment, options).unwrap()
    }
}

pub fn options() -> report::CountOptions {
    report::CountOptions {
        base: None,
        margin: None,
        event: None,
        functions: 15,
        every_kind: false,
        brief: None,
    }
}

pub fn begin(store: &Store, base: &str) -> ExperimentId {
    store
        .begin_experiment(&NewExperiment {
            purpose: Purpose::Count,
            name: "insert-costs".to_owned(),
            workload: "insert".to_owned(),
            base: base.to_owned(),
            seed: 42,
            blocks: 1,
            margin: 0.02,
            plan: "name = \"insert-costs\"\n".to_owned(),
            steelyard: "0.1.0".to_owned(),
            created_ms: START,
        })
        .unwrap()
}

pub fn add(store: &Store, experiment: ExperimentId, name: &str) -> VariantId {
    let new = NewVariant {
        name: name.to_owned(),
        dbms: format!("postgres@{name}"),
        source: "archive".to_owned(),
        version: format!("PostgreSQL {name}"),
        build: BTreeMap::new(),
        config: BTreeMap::new(),
    };
    store.add_variant(experiment, &new).unwrap()
}
