//! `steelyard fetch`: obtain binaries ahead of a run.

use clap::Args;

use crate::builds::BuildsFrom;

/// Download or build the binaries of a version and print where they are (run does this too)
#[derive(Debug, Args)]
pub struct FetchArgs {
    /// What to fetch, for example postgres@13.7, or postgres@14 for the newest 14.x;
    /// git:REPOSITORY#COMMIT and src:TARBALL are built from source
    #[arg(required = true, value_name = "DBMS@VERSION")]
    references: Vec<String>,
    #[command(flatten)]
    builds: BuildsFrom,
}

/// Fetches each and prints its version and directory on one line.
pub fn run(args: &FetchArgs) -> anyhow::Result<()> {
    args.builds.register()?;
    let cache = dbms::Cache::open_default()?;
    for text in &args.references {
        let reference: dbms::Reference = text.parse()?;
        let installation = dbms::obtain(&reference, &cache, &|line| eprintln!("{line}"))?;
        let place = installation.bin_dir.as_deref().map_or_else(
            || "a server that is already running".to_owned(),
            |directory| directory.display().to_string(),
        );
        println!("{} {}\t{place}", installation.dbms, installation.version);
    }
    Ok(())
}
