//! The short form: a plan given by options instead of a file.

use std::path::Path;

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use plan::{CommandOption, Layer, Plan, WorkloadPlan};

use crate::dash::read_named;
use crate::exit::{WrongRequest, refuse};

/// Options that replace a plan file, or what it says of its workload.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Short form (instead of a plan file)")]
pub struct ShortForm {
    /// A variant: postgres@13.7, postgres@14 (newest 14.x), git:REPOSITORY#COMMIT, src:TARBALL,
    /// path:DIR or postgres://…; NAME= gives it a name. Repeat for each; the first is the base
    #[arg(short, long = "variant", value_name = "[NAME=]DBMS")]
    variants: Vec<String>,
    /// A server setting for all variants, for example shared_buffers=1GB, or with a variant's name
    /// for that one only: pg14.3.shared_buffers=1GB; repeat for each
    #[arg(short, long = "config", value_name = "[VARIANT.]NAME=VALUE")]
    config: Vec<String>,
    #[command(flatten)]
    options: Options,
}

/// Names and values of the given options that workloads declare.
#[derive(Debug, Clone, Default)]
struct Options(Vec<(String, String)>);

/// Columns of help, at most.
pub const HELP_WIDTH: usize = 100;

/// The options of all workloads; one that several workloads have is there once.
fn declared() -> Vec<CommandOption> {
    let mut all: Vec<CommandOption> = Vec::new();
    for option in WorkloadPlan::all().iter().flat_map(WorkloadPlan::options) {
        if !all.iter().any(|known| known.name == option.name) {
            all.push(*option);
        }
    }
    all
}

fn argument(option: &CommandOption) -> Arg {
    let arg = Arg::new(option.name).long(option.name);
    match option.value {
        "" => arg.action(ArgAction::SetTrue),
        value => arg.action(ArgAction::Append).value_name(value),
    }
}

/// The words of the command line.
pub fn typed() -> impl Iterator<Item = String> {
    std::env::args_os().map(|word| word.to_string_lossy().into_owned())
}

/// The workload that these words name.
pub fn workload_of(words: &[String]) -> Option<WorkloadPlan> {
    let of_word = |word: &String| {
        let of_file = || WorkloadPlan::of_file(Path::new(word)).map(|(workload, _)| workload);
        WorkloadPlan::named(word).or_else(of_file)
    };
    words.iter().find_map(of_word)
}

/// The options of a workload, which the commands that take them hide.
pub fn options_of(workload: &WorkloadPlan) -> Command {
    let options = workload.options().iter();
    Command::new(workload.name())
        .disable_help_flag(true)
        .max_term_width(HELP_WIDTH)
        .args(options.map(|option| argument(option).help(option.help)))
}

/// True if a command takes the options of workloads.
pub fn takes_workload(command: &Command) -> bool {
    command.get_arguments().any(|argument| argument.get_id() == "variants")
}

impl Args for Options {
    fn augment_args(command: Command) -> Command {
        // The help has them by workload.
        command.args(declared().iter().map(|option| argument(option).hide(true)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Options {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = declared()
            .into_iter()
            .filter(|option| matches.value_source(option.name) == Some(ValueSource::CommandLine));
        let named = given.map(|option| {
            let values = match option.value {
                "" => None,
                _ => matches.get_many::<String>(option.name),
            };
            let values: Vec<&str> = values.into_iter().flatten().map(String::as_str).collect();
            (option.name.to_owned(), values.join(","))
        });
        Ok(Self(named.collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.0.extend(Self::from_arg_matches(matches)?.0);
        Ok(())
    }
}

impl ShortForm {
    /// True if any of the options was given.
    pub fn given(&self) -> bool {
        !self.variants.is_empty() || !self.config.is_empty() || !self.options.0.is_empty()
    }

    /// The plan of this workload, with all that was given.
    pub fn plan(&self, workload: &WorkloadPlan, layer: Layer) -> anyhow::Result<Plan> {
        if self.variants.is_empty() {
            return refuse(
                "name at least one variant with -v, for example -v postgres@13.7 -v postgres@14.3",
            );
        }
        let variants = self.variants()?;
        let plan = self.plan_of(workload, layer, &variants)?;
        self.check_owners(&variants)?;
        Ok(plan)
    }

    /// The plan of this workload for other variants, by name and system, with all else that was
    /// given.
    pub fn plan_of(
        &self,
        workload: &WorkloadPlan,
        mut layer: Layer,
        variants: &[(String, String)],
    ) -> anyhow::Result<Plan> {
        for (name, dbms) in variants {
            layer.set("-v", &["variants", name, "dbms"], dbms);
        }
        for (name, value) in self.settings()? {
            layer.config(&name, &value);
        }
        Ok(Plan::short(workload, &self.over(layer))?)
    }

    /// The given variants, by name and system.
    pub fn variants(&self) -> anyhow::Result<Vec<(String, String)>> {
        self.check_names()?;
        Ok(self.named_variants())
    }

    /// Refuses what only names a system without the text before an `=`. That may be a password, so
    /// it isn't repeated.
    fn check_names(&self) -> anyhow::Result<()> {
        let known = |text: &str| text.parse::<dbms::Reference>().is_ok();
        let misnamed = |text: &String| {
            let rest = text.split_once('=').map(|(_, rest)| rest);
            reference::split_name(text).0.is_none() && !known(text) && rest.is_some_and(known)
        };
        match self.variants.iter().position(misnamed) {
            None => Ok(()),
            Some(at) => refuse(format!(
                "-v number {}: a variant's name, before the `=`, can't have `/`, `:` or `@` in it",
                at + 1
            )),
        }
    }

    /// Refuses a server's setting with a name in front that no variant has. A server takes it for
    /// one of a module.
    pub fn check_owners(&self, variants: &[(String, String)]) -> anyhow::Result<()> {
        let settings = self.settings()?;
        let of_variant = |setting: &str| {
            let own = |name: &str| setting.strip_prefix(name)?.strip_prefix('.').map(drop);
            variants.iter().any(|(name, _)| own(name).is_some())
        };
        let loads = |module: &str| {
            let libraries =
                settings.iter().filter(|(name, _)| name.ends_with("shared_preload_libraries"));
            libraries.into_iter().any(|(_, value)| value.contains(module))
        };
        for (setting, _) in settings.iter().filter(|(setting, _)| !of_variant(setting)) {
            let Some((owner, name)) = setting.rsplit_once('.') else { continue };
            if !loads(owner) && variants.iter().any(|(_, dbms)| dbms::has_setting(dbms, name)) {
                let names: Vec<&str> = variants.iter().map(|(name, _)| name.as_str()).collect();
                return refuse(format!(
                    "`-c {setting}`: `{name}` is a server's own setting, but no variant is named \
                     `{owner}`; the variants are {}",
                    names.join(", ")
                ));
            }
        }
        Ok(())
    }

    /// A plan from a file, with all that was given. Its variants are its own.
    pub fn change(&self, file: &Path, layer: Layer) -> anyhow::Result<Plan> {
        let plan = read_named(file, &self.over(layer))?;
        if !self.variants.is_empty() || !self.config.is_empty() {
            return refuse(format!(
                "{}: -v and -c can't be used with a plan file; change the plan instead",
                file.display()
            ));
        }
        Ok(plan)
    }

    /// The layer with the options of the workload, for a plan file whose variants are replaced.
    pub fn over_file(&self, file: &Path, layer: Layer) -> anyhow::Result<Layer> {
        if !self.config.is_empty() {
            return refuse(format!("{}: -c can't be used with a plan file", file.display()));
        }
        Ok(self.over(layer))
    }

    /// The layer with the options of the workload.
    fn over(&self, mut layer: Layer) -> Layer {
        self.options.0.iter().for_each(|(name, value)| layer.option(name, value));
        layer
    }

    fn named_variants(&self) -> Vec<(String, String)> {
        let references: Vec<&str> =
            self.variants.iter().map(|text| reference::split_name(text).1).collect();
        let names = reference::variant_names(&references);
        self.variants
            .iter()
            .zip(names)
            .map(|(text, name)| {
                let (given, reference) = reference::split_name(text);
                (given.map_or(name, str::to_owned), reference.to_owned())
            })
            .collect()
    }

    pub fn settings(&self) -> Result<Vec<(String, String)>, WrongRequest> {
        self.config
            .iter()
            .map(|text| {
                let (name, value) = text.split_once('=').ok_or_else(|| {
                    WrongRequest(format!(
                        "`-c {text}`: expected NAME=VALUE, as in -c shared_buffers=1GB, or \
                         VARIANT.NAME=VALUE"
                    ))
                })?;
                Ok((name.trim().to_owned(), value.trim().to_owned()))
            })
            .collect()
    }
}
