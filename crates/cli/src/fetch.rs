//! `steelyard fetch`: obtain binaries beforehand.

use clap::Args;

/// Obtain the binaries of a version, or build them, and say where they are (run does it too)
#[derive(Debug, Args)]
pub struct FetchArgs {
    /// What to fetch, for example postgres@13.7, or postgres@14 for the newest 14.x;
    /// git:REPOSITORY#COMMIT and src:TARBALL are built
    #[arg(required = true, value_name = "DBMS@VERSION")]
    references: Vec<String>,
}

/// Fetches each and prints one line for each: version and directory.
pub fn run(args: &FetchArgs) -> anyhow::Result<()> {
    let cache = dbms::Cache::open_default()?;
    for text in &args.references {
        let reference: dbms::Reference = text.parse()?;
        let installation = dbms::obtain(&reference, &cache, &|line| eprintln!("{line}"))?;
        let place = installation.bin_dir.as_deref().map_or_else(
            || "a server that runs already".to_owned(),
            |directory| directory.display().to_string(),
        );
        println!("{} {}\t{place}", installation.dbms, installation.version);
    }
    Ok(())
}
