//! `steelyard serve`: results in the browser, and a service that receives them.

use std::path::PathBuf;

use ::serve::{Right, Service, Tokens, listen};
use archive::Wanted;
use clap::{Args, Subcommand};
use store::Store;

use crate::exit::refuse;
use crate::results::{ResultsDir, address, open_wanted};

/// Show all experiments in the browser, as they are at each moment, and receive others
///
/// The pages are those of `steelyard site`. On this machine alone, everybody can read them. With a
/// token (`steelyard serve token add NAME`), other machines can push experiments to the service
/// (`steelyard push https://HOST`), and it may listen beyond this machine; then readers need one
/// too. It has no TLS; put a proxy that has it before it. Ctrl-C ends it.
#[derive(Debug, Args)]
#[command(before_help = "Examples:
  steelyard serve
  steelyard serve --listen 0.0.0.0:7700")]
#[command(args_conflicts_with_subcommands = true)]
pub struct ServeArgs {
    #[command(flatten)]
    directory: ResultsDir,
    /// The address to listen on; port 0 for any that is free. One beyond this machine needs tokens
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:7700")]
    listen: String,
    /// Readers on this machine need a token too, as behind a proxy, whose readers are elsewhere
    #[arg(long)]
    private: bool,
    /// Space for experiments that are not received to their end yet, in GB
    #[arg(long, value_name = "GB", default_value_t = 16)]
    uploads: u64,
    /// Let anyone with a token made with --runs start the plans of this directory; a plan is code
    #[arg(long, value_name = "DIR")]
    plans: Option<PathBuf>,
    /// Options of `run` for plans that are started, such as `-- --data-dir /data`
    #[arg(last = true, value_name = "OPTION", requires = "plans")]
    options: Vec<String>,
    #[command(subcommand)]
    about: Option<About>,
}

#[derive(Debug, Subcommand)]
enum About {
    /// Tokens of machines that push, and of people who read
    #[command(subcommand)]
    Token(TokenCommand),
}

#[derive(Debug, Subcommand)]
enum TokenCommand {
    /// Make a token and print it; only a hash of it is kept
    ///
    /// A machine that pushes takes it from the environment variable STEELYARD_TOKEN, or from a file
    /// that STEELYARD_TOKEN_FILE names; a browser asks for it as the password of any user.
    Add {
        /// Who will have it, such as the name of a machine
        name: String,
        /// It is good for reading, not for pushing
        #[arg(long)]
        read_only: bool,
        /// It is also good for stopping runs on the machine of the service, and for starting them
        /// where the service does that
        #[arg(long, conflicts_with = "read_only")]
        runs: bool,
        #[command(flatten)]
        directory: ResultsDir,
    },
    /// List names and rights of all tokens
    List {
        #[command(flatten)]
        directory: ResultsDir,
    },
    /// Remove a token; a service that runs does not take it from then on
    Rm {
        /// Whose it is
        name: String,
        #[command(flatten)]
        directory: ResultsDir,
    },
}

/// Answers until it is interrupted.
pub fn run(args: &ServeArgs) -> anyhow::Result<()> {
    if let Some(About::Token(command)) = &args.about {
        return token(command);
    }
    let results = &args.directory.results;
    let receives = address(results)?.is_none();
    if args.plans.as_ref().is_some_and(|plans| !receives || !plans.is_dir()) {
        return refuse("--plans needs a directory of plans, and results on this machine");
    }
    let tokens = receives && !Tokens::of(results).list()?.is_empty();
    if tokens {
        // It can be written, and what was left by one that was killed is removed.
        Store::open(results)?;
    }
    let listening = listen(&args.listen, tokens)?;
    let store = open_wanted(results, Wanted::All)?;
    let kept = kept(&store)?;
    let mut service = Service::open(store, Some(&kept))?.preparing(lab::Exclusive::measuring);
    let address = listening.address();
    if receives {
        let open = !args.private && address.ip().is_loopback();
        service = service.receiving(open, args.uploads.saturating_mul(1 << 30));
    }
    if let Some(plans) = &args.plans {
        service = service.starting(
            std::env::current_exe()?,
            args.options.clone(),
            std::path::absolute(plans)?,
        );
    }
    eprintln!("Open http://{address}/ in a browser; Ctrl-C ends the service.");
    if !address.ip().is_loopback() {
        eprintln!("warning: {address} has no TLS, so tokens and results can be read on the way");
    }
    Ok(listening.run(service)?)
}

/// Adds, lists or removes tokens.
fn token(command: &TokenCommand) -> anyhow::Result<()> {
    match command {
        TokenCommand::Add { name, read_only, runs, directory } => {
            let results = directory.writable()?;
            // A machine that only receives has none yet.
            Store::open(results)?;
            let may = match (read_only, runs) {
                (true, _) => Right::Read,
                (_, true) => Right::Run,
                _ => Right::Push,
            };
            let text = Tokens::of(results).add(name, may)?;
            eprintln!("The token of {name}, which is not shown again:");
            println!("{text}");
        }
        TokenCommand::List { directory } => {
            for token in Tokens::of(directory.writable()?).list()? {
                let added = report::rfc3339(token.added_ms);
                println!("{}  {}  added {added}", token.name, token.may.as_str());
            }
        }
        TokenCommand::Rm { name, directory } => {
            Tokens::of(directory.writable()?).remove(name)?;
            println!("removed the token of {name}");
        }
    }
    Ok(())
}

/// The file in the cache for what is known of this results directory.
fn kept(store: &Store) -> anyhow::Result<PathBuf> {
    let database = std::path::absolute(store.database())?;
    Ok(dbms::Cache::open_default()?.path().join("briefs").join(::site::Kept::file_name(&database)))
}
