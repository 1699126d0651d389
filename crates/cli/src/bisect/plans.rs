//! The plans of a bisection: what the command line says of the workload, for some of the
//! candidates.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use plan::{Layer, Plan, Protocol, WorkloadPlan};
use toml::{Table, Value};

use super::candidates::Candidate;
use crate::exit::refuse;
use crate::short::ShortForm;

/// The name of all experiments of bisections.
const NAME: &str = "bisect";

/// How commits are built.
#[derive(Debug, Clone, Default, Args)]
pub struct Building {
    /// The compiler for commits, such as "ccache cc", with which later builds take less time
    /// [default: cc]
    #[arg(long, value_name = "COMMAND")]
    compiler: Option<String>,
    /// Flags of the compiler for commits [default: -O2 -fno-omit-frame-pointer -g]
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true)]
    cflags: Option<String>,
    /// An option of configure for commits; repeat for several
    #[arg(long, value_name = "OPTION", allow_hyphen_values = true)]
    configure: Vec<String>,
}

/// Makes the plans.
pub struct Plans<'a> {
    workload: Workload,
    short: &'a ShortForm,
    building: &'a Building,
    /// What the command line says apart from the candidates.
    layer: Layer,
}

/// What is measured.
enum Workload {
    /// The short form.
    Short(WorkloadPlan, Option<(&'static str, PathBuf)>),
    /// A plan file, of whose variants the base is the pattern for all candidates.
    File { rest: Table, pattern: Table, path: PathBuf, has_statements: bool },
}

impl<'a> Plans<'a> {
    /// Of the workload, the plan file or the script that `what` names; without any, `insert`.
    pub fn new(
        what: Option<&Path>,
        short: &'a ShortForm,
        building: &'a Building,
        mut layer: Layer,
    ) -> anyhow::Result<Self> {
        layer.set("", &["name"], &NAME);
        // Only instructions are judged.
        layer.set("", &["count", "caches"], &false);
        let what = what.unwrap_or(Path::new("insert"));
        let workload =
            match (what.to_str().and_then(WorkloadPlan::named), WorkloadPlan::of_file(what)) {
                (Some(workload), _) => Workload::Short(workload, None),
                (None, Some((workload, option))) => {
                    Workload::Short(workload, Some((option, what.to_owned())))
                }
                (None, None) => {
                    // With its own variants, for messages that name places in it.
                    let plan = crate::dash::read_named(what, &Layer::default())?;
                    let (rest, pattern) = pattern(&plan)?;
                    let has_statements = plan.workload.has_statements();
                    Workload::File { rest, pattern, path: what.to_owned(), has_statements }
                }
            };
        Ok(Self { workload, short, building, layer })
    }

    /// Counts these protocols; where none is given, the simple one, if the workload has statements.
    pub fn count(&mut self, protocols: &[Protocol]) {
        let has_statements = match &self.workload {
            Workload::Short(workload, _) => workload.has_statements(),
            Workload::File { has_statements, .. } => *has_statements,
        };
        let named = Protocol::NAMED.iter().map(|(_, protocol)| *protocol);
        let wanted: Vec<Protocol> = match protocols {
            [] => named.filter(|it| has_statements && *it == Protocol::Simple).collect(),
            _ => named.filter(|it| protocols.contains(it)).collect(),
        };
        let wanted = (!wanted.is_empty()).then_some(wanted);
        self.layer.set("--protocols", &["count", "protocols"], &wanted);
    }

    /// The plan that compares these, the first as the base.
    pub fn of(&self, candidates: &[&Candidate], budget: Option<Duration>) -> anyhow::Result<Plan> {
        let mut layer = self.layer.clone();
        layer.set("--budget", &["budget"], &budget.map(plan::format_duration));
        for Candidate { name, commit, .. } in candidates {
            let Building { compiler, cflags, configure } = self.building;
            if commit.is_none() {
                continue;
            }
            let configure = (!configure.is_empty()).then_some(configure);
            layer.set("--compiler", &["variants", name, "build", "compiler"], compiler);
            layer.set("--cflags", &["variants", name, "build", "cflags"], cflags);
            layer.set("--configure", &["variants", name, "build", "configure"], &configure);
        }
        let variants: Vec<(String, String)> =
            candidates.iter().map(|it| (it.name.clone(), it.dbms.clone())).collect();
        match &self.workload {
            Workload::Short(workload, file) => {
                if let Some((option, path)) = file {
                    layer.option(option, &path.display().to_string());
                }
                self.short.plan_of(workload, layer, &variants)
            }
            Workload::File { rest, pattern, path, .. } => {
                let mut table = rest.clone();
                let variant = |(name, dbms): (String, String)| {
                    let mut variant = pattern.clone();
                    variant.insert("dbms".to_owned(), Value::String(dbms));
                    (name, Value::Table(variant))
                };
                let variants: Table = variants.into_iter().map(variant).collect();
                table.insert("variants".to_owned(), Value::Table(variants));
                let folder = path.parent().filter(|it| *it != Path::new(""));
                let folder = folder.unwrap_or(Path::new("."));
                let origin = path.display().to_string();
                let layer = self.short.over_file(path, layer)?;
                Ok(Plan::parse_with(&table.to_string(), Some(folder), &origin, &layer)?)
            }
        }
    }
}

/// A plan without its variants, and its base without the system.
fn pattern(plan: &Plan) -> anyhow::Result<(Table, Table)> {
    let mut rest: Table = plan.text.parse()?;
    let variants = rest.remove("variants");
    let base = rest.remove("base");
    let base = base.as_ref().and_then(Value::as_str).unwrap_or(&plan.variants[0].name);
    let base = variants.as_ref().and_then(|it| it.get(base)).and_then(Value::as_table);
    let Some(pattern) = base else {
        return refuse("the plan has no variant that could be the pattern for others");
    };
    let mut pattern = pattern.clone();
    pattern.remove("dbms");
    Ok((rest, pattern))
}
