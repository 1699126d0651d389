//! `steelyard engine`: the process of an engine that is a library. `run` starts it.

/// The process of an engine that is a library; `run` starts it
#[derive(Debug, clap::Args)]
pub struct EngineArgs {
    /// Which engine
    name: String,
}

/// Serves the engine, and ends the process.
pub fn run(args: &EngineArgs) -> ! {
    engines::engine(&args.name)
}
