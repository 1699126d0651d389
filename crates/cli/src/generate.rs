//! `steelyard generate`: the files that packages hold beside the program.

use std::path::PathBuf;

use anyhow::Context;
use clap::{Args, Subcommand};
use clap_complete::Shell;

use crate::{complete, dash, help, manual};

/// Write man pages, completions for a shell, or the reference of all commands
#[derive(Debug, Args)]
#[command(before_help = "Examples:
  steelyard generate man ~/.local/share/man/man1
  steelyard generate completions bash > steelyard.bash")]
pub struct GenerateArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Write a man page for each command into a directory
    Man {
        /// Where; made if it does not exist
        directory: PathBuf,
    },
    /// Print the completions for a shell, which asks steelyard for versions, plans, steps and
    /// experiments
    #[command(after_help = "\
Where they belong:
  bash  ~/.local/share/bash-completion/completions/steelyard
  zsh   _steelyard in a directory of $fpath
  fish  ~/.config/fish/completions/steelyard.fish")]
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print all commands and their options as a page of the documentation
    Reference,
}

/// Runs it for `command`, that of the whole program.
pub fn run(args: &GenerateArgs, command: clap::Command) -> anyhow::Result<()> {
    match &args.what {
        What::Man { directory } => help::write_pages(command, directory)
            .with_context(|| format!("{}", directory.display())),
        What::Completions { shell } => {
            let mut script = Vec::new();
            complete::write_script(&shell.to_string(), &mut script)?;
            dash::print(&script)
        }
        What::Reference => dash::print(manual::page(command).as_bytes()),
    }
}
