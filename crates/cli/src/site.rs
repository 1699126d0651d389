//! `steelyard site`: results as a static site.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;

use ::site::{Directory, Place, Renewed};
use archive::Wanted;
use clap::Args;

use crate::results::{ResultsDir, address, open_wanted};

/// Write a static site of all experiments: what moved lately, machines, histories, every report
///
/// Any web server can serve it, also object storage. Run again, it is renewed in place: only what
/// changed is written, and what is gone is removed.
#[derive(Debug, Args)]
#[command(before_help = "Examples:
  steelyard site -o public
  steelyard site --results s3://team/bench -o s3://team/site")]
pub struct SiteArgs {
    #[command(flatten)]
    directory: ResultsDir,
    /// A directory for the site, or an address such as s3://BUCKET/PREFIX
    #[arg(long, short, value_name = "DIR|ADDRESS")]
    output: PathBuf,
}

/// Writes the site and says what changed.
pub fn run(args: &SiteArgs) -> anyhow::Result<()> {
    let place: Box<dyn Place> = match address(&args.output)? {
        None => Box::new(Directory::open(&args.output)?),
        Some(address) => match address.directory() {
            Some(directory) => Box::new(Directory::open(directory)?),
            None => Box::new(archive::Pages::open(&address)?),
        },
    };
    let store = open_wanted(&args.directory.results, Wanted::All)?;
    let terminal = std::io::stderr().is_terminal();
    let renewed = ::site::renew(&store, &*place, |done, all| {
        if terminal {
            let _ = write!(std::io::stderr(), "\r{done} of {all} files");
        }
    })?;
    if terminal {
        let _ = write!(std::io::stderr(), "\r\x1b[K");
    }
    let Renewed { written, bytes, unchanged, removed } = renewed;
    let kilobytes = bytes.div_ceil(1024);
    println!(
        "{}: {written} files written ({kilobytes} KB), {unchanged} unchanged, {removed} removed",
        place.name()
    );
    Ok(())
}
