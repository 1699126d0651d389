//! `steelyard generate`: the files that packages hold beside the program.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, Subcommand};
use clap_complete::Shell;

use crate::{complete, dash, manual};

/// Write man pages, completions for a shell, or the reference of all commands
#[derive(Debug, Args)]
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
        What::Man { directory } => {
            write_pages(directory, command).with_context(|| format!("{}", directory.display()))
        }
        What::Completions { shell } => {
            let mut script = Vec::new();
            complete::write_script(&shell.to_string(), &mut script)?;
            dash::print(&script)
        }
        What::Reference => dash::print(manual::page(command).as_bytes()),
    }
}

fn write_pages(directory: &Path, command: clap::Command) -> std::io::Result<()> {
    std::fs::create_dir_all(directory)?;
    clap_mangen::generate_to(command, directory)
}
