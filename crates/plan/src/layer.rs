//! Keys of a plan from the command line, laid over the plan's text and read with it.

use std::fmt::Write as _;

use serde::Serialize;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::owned::owned;
use crate::problem::Problems;
use crate::value::{key_text, quoted, toml};
use crate::workloads::WorkloadPlan;

/// Keys from the command line. They win over those of the text that they are laid over, and
/// problems with them name the option that they came from:
///
/// ```
/// let text = "blocks = 4\n[variants.a]\ndbms = \"postgres@14.3\"\n[workload.insert]\n";
/// let mut layer = plan::Layer::default();
/// layer.set("--blocks", &["blocks"], &Some(8));
/// layer.option("dop", "1,4");
/// let plan = plan::Plan::parse_with(text, None, "x.toml", &layer)?;
/// assert!(plan.text.starts_with("blocks = 8\n") && plan.text.ends_with("\ndop = [1, 4]\n"));
/// layer.option("steps", "l.i0,lx");
/// let error = plan::Plan::parse_with(text, None, "x.toml", &layer).unwrap_err().to_string();
/// assert!(error.starts_with("x.toml: `--steps`: unknown step `lx`; did you mean `l.x`?"));
/// # Ok::<(), plan::PlanError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Layer {
    settings: Vec<Setting>,
    options: Vec<(String, String)>,
    config: Vec<(String, String)>,
    /// Every variant gets a second name, as by [`crate::Plan::with_twins`].
    pub twins: bool,
}

/// A key that the command line sets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Setting {
    option: String,
    pub(crate) path: Vec<String>,
    /// Written as TOML.
    pub(crate) value: String,
}

impl Setting {
    fn new(option: &str, path: &[&str], value: String) -> Self {
        let path = path.iter().map(ToString::to_string).collect();
        Setting { option: option.to_owned(), path, value }
    }
}

impl Layer {
    /// True if nothing is set.
    pub fn is_empty(&self) -> bool {
        *self == Layer::default()
    }

    /// Sets the key at a path, if there is a value; `option` gave it.
    pub fn set(&mut self, option: &str, path: &[&str], value: &impl Serialize) {
        let setting = |value: toml::Value| Setting::new(option, path, value.to_string());
        self.settings.extend(toml(value).map(setting));
    }

    /// Sets an option that the workload of the plan declares.
    pub fn option(&mut self, name: &str, value: &str) {
        self.options.push((name.to_owned(), value.to_owned()));
    }

    /// Sets a server's setting for all variants of this layer, or, with a variant's name and a dot
    /// in front, for that one only, in which it wins.
    pub fn config(&mut self, name: &str, value: &str) {
        self.config.push((name.to_owned(), value.to_owned()));
    }

    /// The keys over this document.
    pub(crate) fn settings(&self, p: &mut Problems, document: &DeTable) -> Vec<Setting> {
        let mut settings = self.settings.clone();
        let variants = self.settings.iter().filter_map(|setting| match &setting.path[..] {
            [table, name, _] if table == "variants" => Some(name.as_str()),
            _ => None,
        });
        let variants: Vec<&str> = variants.collect();
        for (name, value) in &self.config {
            match owned(name, &variants) {
                Ok(path) => settings.push(Setting::new("-c", &path, quoted(value))),
                Err(message) => p.of("", message),
            }
        }
        let Some(workload) = workload_of(document) else { return settings };
        for (name, text) in &self.options {
            let known = workload.options().iter().find(|known| known.name == name);
            let missing = || format!("`--{name}` is not an option of `{}`", workload.name());
            match known.ok_or_else(missing).and_then(|known| Ok((known.key, known.toml(text)?))) {
                Ok((key, value)) => {
                    let path = ["workload", workload.name(), key];
                    settings.push(Setting::new(&format!("--{name}"), &path, value));
                }
                Err(message) => p.of("", message),
            }
        }
        settings
    }
}

fn workload_of(document: &DeTable) -> Option<WorkloadPlan> {
    let workloads = document.get("workload")?.get_ref().as_table()?;
    workloads.keys().find_map(|name| WorkloadPlan::named(name.get_ref()))
}

/// Settings as a document. It begins with blanks, so its positions come after those of the
/// text that it is laid over.
pub(crate) fn document(p: &mut Problems, settings: &[Setting]) -> String {
    let mut document = " ".repeat(p.text.len() + 1);
    for (place, Setting { option, path, value }) in settings.iter().enumerate() {
        if settings[..place].iter().any(|known| known.path == *path) {
            p.of("", format!("`{option}`: `{}` appears twice", path.join(".")));
            continue;
        }
        let path: Vec<String> = path.iter().map(|key| key_text(key)).collect();
        let _ = writeln!(document, "{} = {value}", path.join("."));
        p.options.push((document.len(), option.clone()));
    }
    document
}

/// Lays a table over another. Where one has a table and the other has none, the lower stays, and
/// its reader says what is wrong.
pub(crate) fn lay<'t>(below: &mut DeTable<'t>, over: DeTable<'t>) {
    for (key, value) in over {
        match below.get_mut(key.get_ref().as_ref()).map(Spanned::get_mut) {
            Some(DeValue::Table(below)) => {
                if let DeValue::Table(over) = value.into_inner() {
                    lay(below, over);
                }
            }
            Some(_) if value.get_ref().is_table() => {}
            _ => {
                below.remove(key.get_ref().as_ref());
                below.insert(key, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{Plan, PlanError};
    use proptest::prelude::*;

    fn short(variants: &[(&str, &str)], options: &[(&str, &str)]) -> Result<Plan, PlanError> {
        let mut layer = Layer::default();
        layer.config("work_mem", "1MB");
        for (name, dbms) in variants {
            layer.set("-v", &["variants", name, "dbms"], dbms);
        }
        options.iter().for_each(|(name, value)| layer.option(name, value));
        Plan::short(&WorkloadPlan::named("insert").unwrap(), &layer)
    }

    #[test]
    fn the_short_form_is_checked() {
        let one = [("pg13.7", "postgres@13.7")];
        let plan = short(&one, &[("rows", "2m"), ("dop", "1,4"), ("shared-table", "")]).unwrap();
        assert_eq!((plan.name.as_str(), plan.base.as_str(), plan.blocks), ("insert", "pg13.7", 6));
        assert_eq!(plan.variants[0].config["work_mem"], "1MB");
        assert_eq!(plan.workload.rows(), [2_000_000, 500_000], "in proportion");
        assert_eq!(plan.workload.sequences().len(), 2);
        assert!((plan.settle_seconds_scale - 0.1).abs() < 1e-12);
        let again = Plan::parse(&plan.text, None, "its text").unwrap();
        assert_eq!(plan, Plan { given: plan.given, ..again });
        let rows = |options| short(&one, options).unwrap().workload.rows();
        assert_eq!(short(&one, &[("steps", "qr100")]).unwrap().added, ["l.i0", "l.x"]);
        assert_eq!(rows(&[]), [200_000, 50_000]);
        assert_eq!(rows(&[("rows", "8000"), ("indexed-rows", "6_000")]), [8_000, 6_000]);
        for (options, message) in [
            (&[("rows", "many")][..], "`--rows`: expected a count above 0 such as 200000, 200k"),
            (&[("steps", "l.i0,l.y")], "`--steps`: unknown step `l.y`; did you mean `l.x`?"),
            (&[("threads", "4")], "`--threads` is not an option of `insert`"),
            (&[("rows", "3"), ("dop", "4")], "`--rows`: `rows` = 3 is fewer than `dop` = 4"),
            (&[("dop", "4"), ("dop", "5")], "`--dop`: `workload.insert.dop` appears twice"),
        ] {
            let error = short(&one, options).unwrap_err().to_string();
            assert!(error.starts_with(&format!("the short form: {message}")), "{error}");
        }
        let none = short(&[], &[]).unwrap_err();
        assert!(none.to_string().starts_with("the short form: no variants"), "{none}");
    }

    const TEXT: &str = "restore_after = 'index' # kept\nrenamed = { a = 'b' }\n[config]\n\
        work_mem = '1MB'\n[variants.pg9]\ndbms = 'postgres@9.6'\n[variants.pg10]\n\
        dbms = 'postgres@10'\nconfig = { jit = 'off' }\n\
        [workload.sysbench] # one\nrows = 5000\ndrop = ['scan']\n[count]\nrows = 7";

    fn over(text: &str, options: &[(&str, &str)]) -> Result<Plan, PlanError> {
        let mut layer = Layer::default();
        options.iter().for_each(|(name, value)| layer.option(name, value));
        Plan::parse_with(text, None, "a.toml", &layer)
    }

    #[test]
    fn options_replace_what_a_plan_says() {
        let plan = over(TEXT, &[]).unwrap();
        assert_eq!(plan.text, TEXT);
        let options = [("steps", "index,update-zipf"), ("rows", "6k")];
        let subset = over(&TEXT.replace("drop = ['scan']\n", ""), &options).unwrap();
        let steps: Vec<_> = subset.workload.sequences().remove(0).steps;
        let names: Vec<_> = steps.iter().map(|step| step.key.name.as_str()).collect();
        assert_eq!(names, ["load", "index", "update-zipf"]);
        assert_eq!(subset.added, ["load"]);
        assert_eq!((&subset.variants, subset.blocks), (&plan.variants, plan.blocks));
        let text = TEXT.replace("# one\n", "# one\nsteps = [\"index\", \"update-zipf\"]\n");
        let text = text.replace("rows = 5000\ndrop = ['scan']\n", "rows = 6000\n");
        assert_eq!(subset.text, text);
        // The run still chooses what the user hasn't.
        let designs =
            |plan: Plan| Plan { budget: Some(Duration::from_secs(9)), ..plan }.designs_itself();
        assert!(designs(subset));
        assert!(!designs(over(TEXT, &[("read-seconds", "3")]).unwrap()));
    }

    #[test]
    fn problems_are_told_where_they_come_from() {
        for (name, value, message) in [
            ("steps", "scam", "a.toml: `--steps`: unknown step `scam`; did you mean `scan`?"),
            ("rows", "0", "a.toml: `--rows`: expected a count above 0"),
            ("rows", "9g", "a.toml: `--rows`: `rows` in [workload.sysbench]: expected a whole"),
            ("steps", "load,index", "a.toml:10:11: `scan` is in `drop`, `before` or `after`"),
            ("shared-table", "", "a.toml: `--shared-table` is not an option of `sysbench`"),
        ] {
            let error = over(TEXT, &[(name, value)]).unwrap_err();
            assert!(error.to_string().contains(message), "{error}");
        }
        let mut layer = Layer::default();
        layer.set("--blocks", &["blocks"], &3);
        let error =
            |text: &str| Plan::parse_with(text, None, "a.toml", &layer).unwrap_err().to_string();
        let text = format!("max_blocks = 2\n{TEXT}");
        assert_eq!(
            error(&text),
            "a.toml:1:1: `max_blocks` = 2 is less than `blocks` = 3, which always run"
        );
        let table = TEXT.replace("[count]", "[blocks]\na = 2\n[count]");
        assert!(error(&table).starts_with("a.toml:13:1: `blocks`: expected a whole number"));
    }

    /// A plan says the same by its text, however that is written.
    #[test]
    fn the_text_has_what_was_laid_over_it() {
        let variants = "variants.a.dbms = 'postgres@14.3'";
        for (text, kept) in [
            (format!("{variants}\n[workload.insert]\n"), true),
            (
                format!(
                    "\u{feff}[variants]\n{}\n[workload]\ninsert = {{ rows = 7 }}",
                    &variants[9..]
                ),
                true,
            ),
            (
                format!(
                    "blocks = 3 # three\r\nworkload = {{ insert = {{ dop = 2 }} }}\n{variants}"
                ),
                true,
            ),
            (format!("{variants}\nworkload.insert = {{}}\n"), false),
            (format!("{variants}\nworkload.insert.rows = 7\n"), false),
        ] {
            let mut layer = Layer::default();
            layer.set("--blocks", &["blocks"], &5);
            layer.set("--precision", &["precision"], &Some(0.25));
            layer.set("--budget", &["budget"], &None::<String>);
            layer.option("dop", "4,5");
            layer.option("rows", "5k");
            let plan = Plan::parse_with(&text, None, "a.toml", &layer).unwrap();
            assert_eq!((plan.blocks, plan.precision, plan.budget), (5, Some(0.25), None));
            assert_eq!(plan.workload.rows()[0], 5000);
            let again = Plan::parse(&plan.text, None, "its text").unwrap();
            assert_eq!(plan, Plan { given: plan.given, ..again }, "{}", plan.text);
            let lines = |text: &str| text.lines().filter(|line| line.contains('#')).count();
            assert_eq!(lines(&text) == lines(&plan.text), kept, "{}", plan.text);
        }
    }

    #[test]
    fn twins_are_read_and_checked_with_the_rest() {
        let layer = Layer { twins: true, ..Layer::default() };
        let twins = |text: &str| Plan::parse_with(text, None, "a.toml", &layer);
        let one = "budget = '2m'\n[variants.a]\ndbms = 'postgres@14.3'\n[workload.insert]\n";
        let plan = twins(one).unwrap();
        assert!(plan.designs_itself() && plan.twin("a").is_some());
        assert_eq!(Plan::parse(&plan.text, None, "its text").unwrap().variants, plan.variants);
        let taken = one.replace("[work", "[variants.'a.aa']\ndbms = 'postgres@15.1'\n[work");
        let error = twins(&taken).unwrap_err().to_string();
        let expected = "a.toml:2:2: two variants are called `a.aa`; names must differ";
        assert!(error.starts_with(expected), "{error}");
    }

    proptest! {
        #[test]
        fn every_name_is_fit_for_a_plan(dbms in "\\PC{1,80}") {
            let names = reference::variant_names(&[&dbms, &dbms]);
            let variants: Vec<_> = names.iter().map(|name| (name.as_str(), dbms.as_str())).collect();
            let plan = short(&variants, &[]);
            prop_assert!(plan.is_ok(), "{}", plan.unwrap_err());
        }
    }
}
