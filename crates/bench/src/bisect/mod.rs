//! Searches with a known answer (`bench bisect`): over histories of PostgreSQL with two commits
//! that slow a function down, a fix and a commit that does not build.

mod gates;
mod history;
mod kills;
mod search;
mod slowdowns;

use std::fs;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use crate::publish::{self, WIDTH, table};
use crate::steelyard::Steelyard;
use history::ORDERS;
use search::{Looks, Search};

/// Searches over histories of PostgreSQL with known culprits
#[derive(Debug, Args)]
pub struct BisectArgs {
    /// Where everything is kept; a search that is there goes on
    #[arg(long, default_value = "target/bisect")]
    directory: PathBuf,
    /// The steelyard that searches
    #[arg(long, env = "STEELYARD", default_value = "target/release/steelyard")]
    steelyard: PathBuf,
    /// Where the source of PostgreSQL 15 is
    #[arg(long, default_value = "target/sources")]
    sources: PathBuf,
    /// Histories to search, at most six
    #[arg(long, default_value_t = ORDERS.len())]
    searches: usize,
    /// Then search the first history again, and kill that search so many times
    #[arg(long, default_value_t = 20)]
    kills: usize,
    /// Then judge so many harmless commits of it by `steelyard gate`
    #[arg(long, default_value_t = 10)]
    gates: usize,
    /// And changes of the released source that each make a statement 1% more expensive
    #[arg(long)]
    slowdowns: bool,
    /// And search the first history, with longer loops, by runs
    #[arg(long)]
    runs: bool,
    /// Search beside other work: a count does not mind
    #[arg(long)]
    allow_concurrent: bool,
    /// Put the table between the markers of this file
    #[arg(long, value_name = "FILE")]
    document: Option<PathBuf>,
}

const HEAD: &str = "history | slower | slower by less | fixed | does not build | named | changes \
                    of instructions | looks | built | minutes building | minutes looking";

/// Loops are so many times as long where commits are run.
const LONGER: u32 = 3;

/// Searches all, and prints the table.
pub fn bisect(args: &BisectArgs) -> Result<()> {
    let directory = std::path::absolute(&args.directory)?;
    fs::create_dir_all(&directory)?;
    let steelyard = Steelyard { program: args.steelyard.clone() };
    let more: Vec<&'static str> =
        args.allow_concurrent.then_some("--allow-concurrent").into_iter().collect();
    let search = |number: usize, order, results: &str| Search {
        order,
        looks: Looks::Counts,
        tree: directory.join(format!("history-{number}")),
        results: directory.join(format!("{results}-{number}")),
        more: more.clone(),
    };
    let orders = || (1..).zip(&ORDERS).take(args.searches);
    let (mut rows, mut look) = (Vec::new(), 0.0);
    for (number, order) in orders() {
        let search = search(number, order, "results");
        history::plant(&args.sources, &search.tree, order, 1)?;
        let answer = search.run(&steelyard)?;
        look = judge::mean(&answer.seconds()).unwrap_or(0.0);
        rows.push(search.row(number, &answer)?);
        println!("{}", rows.last().map(|row| row.join(" | ")).unwrap_or_default());
    }
    let (mut tables, mut said) = (table(HEAD, rows.into_iter()), Vec::new());
    if let Some((number, order)) = orders().next() {
        if args.kills > 0 {
            let killed = search(number, order, "killed");
            said.push(kills::killed(&steelyard, &killed, look, args.kills)?);
        }
        if args.gates > 0 {
            said.push(gates::gates(&steelyard, &search(number, order, "gates"), args.gates)?);
        }
        if args.slowdowns {
            said.push(slowdowns::slowdowns(&steelyard, &search(number, order, "slowdowns"))?);
        }
        if args.runs {
            let tree = directory.join("history-runs");
            history::plant(&args.sources, &tree, order, LONGER)?;
            let runs = search(number, order, "runs");
            let runs = Search { looks: Looks::Runs, tree, more: Vec::new(), ..runs };
            let [moved, looks, built, building, looking] = runs.figures(&runs.run(&steelyard)?)?;
            said.push(format!(
                "By runs of `l.i0` with a margin of 2%, and loops {LONGER} times as \
                 long: all three commits, alone, with {moved} of throughput, after {looks} looks; \
                 {built} builds took {building} minutes, and the looks {looking}."
            ));
        }
    }
    for text in said {
        tables += &format!("\n{}", report::wrapped(&format!("- {text}"), WIDTH).join("\n"));
    }
    println!("\n{tables}");
    args.document.as_ref().map_or(Ok(()), |path| publish::put(path, "bisect", &tables))
}
