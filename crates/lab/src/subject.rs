//! The variants of a plan with everything needed to start them.

use std::collections::BTreeMap;
use std::path::Path;

use dbms::{Cache, Installation, Ledger, Reference, ServerSpec, ServerUser};
use plan::{Plan, SequenceKey, Variant, WorkloadPlan};
use workload::{Benchmark, Counters, Dialect};

use crate::error::Error;
use crate::own_data::OwnData;

/// A variant with its binaries.
#[derive(Debug)]
pub struct Subject {
    /// The variant in the plan.
    pub variant: Variant,
    /// The reference to its system.
    pub reference: Reference,
    /// The installation that was obtained.
    pub installation: Installation,
    /// The SQL it speaks.
    pub dialect: Dialect,
    /// The data directory that its trials begin on a copy of, if the plan names one for it.
    pub own_data: Option<OwnData>,
}

impl Subject {
    /// Describes how to start a server of it, without the settings.
    pub fn spec<'a>(
        &'a self,
        directory: &'a Path,
        user: &ServerUser,
        cache: &'a Cache,
        ledger: &'a Ledger,
    ) -> ServerSpec<'a> {
        let Variant { name, initdb, engine, .. } = &self.variant;
        ServerSpec {
            initdb: initdb.clone(),
            engine: engine.as_deref(),
            ..ServerSpec::new(name, &self.installation, directory, user.clone(), cache, ledger)
        }
    }
    /// The benchmark of a sequence of a plan on it.
    pub fn benchmark(
        &self,
        workload: &WorkloadPlan,
        sequence: SequenceKey,
    ) -> Result<Benchmark, Error> {
        workload::benchmark(workload, sequence, self.dialect)
            .map_err(|source| Error::Workload { variant: self.variant.name.clone(), source })
    }

    /// The settings of its server: those of the plan, and where it says nothing, those of the
    /// benchmark.
    pub fn config(&self, benchmark: &Benchmark) -> BTreeMap<String, String> {
        let mut config = benchmark.config.clone();
        config.extend(self.variant.config.clone());
        config
    }
}

/// A plan with everything it needs.
#[derive(Debug)]
pub struct Lineup {
    /// The plan.
    pub plan: Plan,
    /// Its variants, in the same order.
    pub subjects: Vec<Subject>,
    /// How the scheduler's events are to be counted, if they are.
    pub counters: Option<Counters>,
    /// Where binaries and prepared data directories are kept.
    pub cache: Cache,
}

impl Lineup {
    /// True if its servers can be frozen while others have the load.
    pub fn is_freezable(&self) -> bool {
        let freezable = |it: &Subject| {
            let engine = it.variant.engine.as_deref();
            it.installation.is_ours() && dbms::timers(&it.installation, engine).is_ok()
        };
        self.subjects.iter().all(freezable)
    }
}
