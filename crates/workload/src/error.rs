//! Why a plan cannot run.

/// A plan that this version of the benchmark cannot run on this server.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum Error {
    /// The benchmark has no step of that name.
    #[error("the {workload} benchmark has no step `{step}`; it has {known}. Correct `steps`")]
    UnknownStep {
        /// The benchmark.
        workload: &'static str,
        /// The step asked for.
        step: String,
        /// The existing steps, for the message.
        known: String,
    },
    /// A script has a mistake.
    #[error("{0}")]
    Script(String),
    /// The system does not accept the benchmark's kind of requests.
    #[error("the {workload} benchmark needs a system that accepts {needs}; remove the variant")]
    Unfit {
        /// The benchmark.
        workload: &'static str,
        /// The kind of requests that it sends.
        needs: &'static str,
    },
    /// A step would write to a block device.
    #[error(
        "the step `{step}` writes, but a device is only read; remove the step, or name a directory \
         on the device (dbms = \"none@path:DIR\")"
    )]
    DeviceWritten {
        /// The step.
        step: String,
    },
    /// The server's version lacks something that the plan requires.
    #[error(
        "{feature} needs PostgreSQL {needs} or later, but this server is version {found}; remove the option or the variant"
    )]
    TooOld {
        /// The option of the plan.
        feature: &'static str,
        /// The first major version that has it.
        needs: u32,
        /// The major version found.
        found: u32,
    },
}
