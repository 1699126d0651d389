//! Counts of commits before changes, kept at an address: each is counted once, on whichever
//! machine.

use anyhow::Context;
use archive::{Address, Shelf, Taken};
use dbms::builds::{CODE_HASH, COMMIT};
use lab::Event;
use report::{CountedIn, Spread};
use store::{Experiment, ExperimentId, ExperimentState, Purpose, Store};
use toml::{Table, Value};

use crate::bisect::site::Site;
use crate::results::archives;

/// The folder at an address that holds them.
const FOLDER: &str = "baselines";

/// Keys of a plan that change no count.
const IRRELEVANT: [&str; 4] = ["name", "base", "margin", "budget"];

/// The counts of the commits of a change at an address.
pub struct Baselines {
    shelf: Shelf,
    /// For each candidate, the name there: of its build, and a hash of everything else that counts
    /// depend on.
    names: Vec<String>,
    /// What the plan asks, apart from the commit.
    asked: String,
}

/// A commit that was counted earlier.
pub struct Known {
    /// The hash of its code.
    pub code: String,
    variant: String,
    experiment: ExperimentId,
    taken: Taken,
}

impl Known {
    /// Its counts.
    pub fn counted(&self) -> CountedIn<'_> {
        let Self { variant, experiment, taken, .. } = self;
        CountedIn { store: &taken.store, experiment: *experiment, variant }
    }
}

impl Baselines {
    /// Those of all candidates. `None` where they can't be named or reached, which is told: all are
    /// counted here, then.
    pub fn open(address: &str, site: &mut Site<'_>) -> anyhow::Result<Option<Self>> {
        let address: Address = address.parse()?;
        let work = archives(&site.cache).join(FOLDER);
        let opened = match (Shelf::open(&address, FOLDER, &work), builds(site)?) {
            (Err(error), _) => Err(error.to_string()),
            (_, None) => Err("this machine has no compiler".to_owned()),
            (Ok(shelf), Some(builds)) => Ok((shelf, builds)),
        };
        let (shelf, builds) = match opened {
            Ok(opened) => opened,
            Err(why) => {
                let text = format!("counts at {address} are not used: {why}");
                site.progress.tell(Event::Note(text));
                return Ok(None);
            }
        };
        let asked = asked(&site.plan(&[0], None)?.text_without_passwords())?;
        let own = std::env::current_exe().context("where steelyard is")?;
        let mut conditions = vec![asked.clone(), dbms::program_id(&own)?];
        conditions.extend(lab::count_conditions()?);
        // The length of a path moves what follows it in memory.
        conditions.extend(
            [&*site.options.data_dir, site.cache.path()].map(|it| it.display().to_string()),
        );
        let conditions = dbms::hash_of_texts(conditions);
        let name = |build: String| format!("{build}-{conditions}.steelyard");
        Ok(Some(Self { shelf, names: builds.into_iter().map(name).collect(), asked }))
    }

    /// The counts, if they are there. If they can't be read, or are others, that is told.
    pub fn known(&self, site: &mut Site<'_>, place: usize) -> anyhow::Result<Option<Known>> {
        let name = &self.names[place];
        let taken = match self.shelf.has(name) {
            Ok(false) => return Ok(None),
            Ok(true) => self.shelf.read_experiment(name),
            Err(error) => Err(error),
        };
        let candidate = &site.candidates[place];
        let commit = candidate.commit.as_ref().map(|commit| commit.id.as_str());
        let found = match taken {
            Ok(taken) => match self.counted(&taken.store, commit)? {
                Some(found) => Ok((found, taken)),
                None => Err("they are of something else".to_owned()),
            },
            Err(error) => Err(error.to_string()),
        };
        let short = candidate.short();
        let (text, known) = match found {
            Ok(((experiment, variant, code), taken)) => {
                let known = Known { code, variant, experiment, taken };
                (format!("{short} was counted before"), Some(known))
            }
            Err(why) => (format!("the kept counts of {short} are not used: {why}"), None),
        };
        site.progress.tell(Event::Note(text));
        Ok(known)
    }

    /// Keeps the counts of a variant, unless they scatter. Where nothing can be written, that is
    /// only told.
    pub fn keep(
        &self,
        site: &mut Site<'_>,
        place: usize,
        CountedIn { store, experiment, variant }: CountedIn<'_>,
    ) -> anyhow::Result<()> {
        let variants = store.variants(experiment)?;
        let own = variants.iter().find(|it| it.name == variant).map(|it| it.id);
        let counts = store.counts(experiment)?;
        let mut counts = counts.iter().filter(|(id, _)| Some(*id) == own);
        if !counts.all(|(_, record)| Spread::of(&record.counts).enough()) {
            return Ok(());
        }
        let (name, version) = (&self.names[place], &site.options.version);
        if let Err(error) = self.shelf.put(name, store, experiment, version) {
            let short = site.candidates[place].short();
            let text = format!("the counts of {short} are not kept: {error}");
            site.progress.tell(Event::Note(text));
        }
        Ok(())
    }

    /// The finished counts of a commit, their variant, and the hash of its code.
    fn counted(
        &self,
        store: &Store,
        commit: Option<&str>,
    ) -> anyhow::Result<Option<(ExperimentId, String, String)>> {
        let same = |it: &Experiment| {
            it.purpose == Purpose::Count
                && it.state == ExperimentState::Finished
                && asked(&it.plan).is_ok_and(|asked| asked == self.asked)
        };
        for experiment in store.all_experiments()?.iter().filter(|it| same(it)) {
            for variant in store.variants(experiment.id)? {
                let own = variant.build.get(COMMIT).map(String::as_str);
                let own = commit.is_some() && own == commit;
                let code = variant.build.get(CODE_HASH).filter(|_| own);
                if let Some(code) = code {
                    return Ok(Some((experiment.id, variant.name, code.clone())));
                }
            }
        }
        Ok(None)
    }
}

/// The names of the builds of all candidates; `None` without a compiler.
fn builds(site: &Site<'_>) -> anyhow::Result<Option<Vec<String>>> {
    let of = |place: usize| {
        let plan = site.plan(&[place], None)?;
        let reference = lab::variant_reference(&plan.variants[0])?;
        Ok(dbms::build_name(&reference, site.options.server_user.as_deref())?)
    };
    (0..site.candidates.len()).map(of).collect()
}

/// What a plan asks of its variants, which differ in their commit alone.
fn asked(plan: &str) -> anyhow::Result<String> {
    let mut table: Table = plan.parse()?;
    table.retain(|key, _| !IRRELEVANT.contains(&key));
    let variants = table.remove("variants");
    let variants = variants.as_ref().and_then(Value::as_table).into_iter().flatten();
    let mut all: Vec<Value> = Vec::new();
    for (_, variant) in variants {
        let mut variant = variant.clone();
        variant.as_table_mut().map(|table| table.remove("dbms"));
        if !all.contains(&variant) {
            all.push(variant);
        }
    }
    table.insert("variants".to_owned(), Value::Array(all));
    Ok(table.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_belong_to_what_was_asked_of_a_commit() {
        let variant = |name: &str, jit: &str| {
            format!(
                "[variants.{name}]\ndbms = \"postgres@git:/{name}#1\"\nconfig = {{ jit = {jit} }}\n"
            )
        };
        let plan = |head: &str, rows: u32, variants: &[String]| {
            let rest = format!("[workload.insert]\n[count]\nrows = {rows}\n");
            asked(&format!("{head}\n{}{rest}", variants.concat())).unwrap()
        };
        let (a, b) = (variant("a", "false"), variant("b", "false"));
        let one = plan("name = \"x\"\nmargin = 0.5", 10, std::slice::from_ref(&a));
        assert_eq!(one, plan("name = \"y\"\nmargin = 0.1", 10, std::slice::from_ref(&b)));
        assert_eq!(
            one,
            plan("base = \"b\"", 10, &[a.clone(), b]),
            "of two, if they are asked alike"
        );
        assert_ne!(one, plan("", 20, std::slice::from_ref(&a)));
        assert_ne!(one, plan("", 10, &[variant("a", "true")]));
        assert_ne!(one, plan("", 10, &[a, variant("b", "true")]));
    }
}
