//! `steelyard fetch`: obtain binaries ahead of a run, or list the known versions.

use clap::Args;

use crate::builds::BuildsFrom;
use crate::exit::refuse;
use crate::format::Format;

/// Download or build the binaries of a version and print where they are (run does this too)
#[derive(Debug, Args)]
#[command(before_help = "Examples:
  steelyard fetch postgres@13.7 rocksdb@10
  steelyard fetch --list postgres")]
pub struct FetchArgs {
    /// What to fetch, for example postgres@13.7, or postgres@14 for the newest 14.x;
    /// git:REPOSITORY#COMMIT and src:TARBALL are built from source. With --list, a system such as
    /// postgres
    #[arg(required_unless_present = "list", value_name = "DBMS@VERSION")]
    references: Vec<String>,
    /// List the known versions of one system or of all, and say which are cached and which have a
    /// known digest
    #[arg(long)]
    list: bool,
    /// Also list what the package registries offer now
    #[arg(long, requires = "list")]
    online: bool,
    /// Output format of --list
    #[arg(long, value_enum, default_value_t = Format::Text, requires = "list")]
    format: Format,
    #[command(flatten)]
    builds: BuildsFrom,
}

/// Fetches each and prints its version and directory on one line, or lists versions.
pub fn run(args: &FetchArgs) -> anyhow::Result<()> {
    args.builds.register()?;
    let cache = dbms::Cache::open_default()?;
    if args.list {
        return list(args, &cache);
    }
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

fn list(args: &FetchArgs, cache: &dbms::Cache) -> anyhow::Result<()> {
    let system = match &args.references[..] {
        [] => None,
        [system] => Some(system.as_str()),
        _ => return refuse("--list takes one system, such as postgres, or none for all"),
    };
    let versions = report::versions(dbms::versions(system, cache, args.online)?);
    args.format.print(|format| versions.render(format))
}
