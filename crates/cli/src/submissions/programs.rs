//! Element 0 of a submission, which obtains the systems' programs for all others.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use archive::{Address, Builds, SharedBuild};
use dbms::{Cache, Program, ProgramSource};
use fleet::Depot;
use lab::Event;
use plan::Plan;
use serde::{Deserialize, Serialize};

use super::workplace::Workplace;
use crate::machine::{Machine, Ready};
use crate::results::archives;

/// Programs, and where they are.
#[derive(Debug, Serialize, Deserialize)]
struct Sent {
    program: Program,
    object: SharedBuild,
}

/// True if a plan's systems have to be fetched or built.
pub fn are_needed(plan: &Plan) -> anyhow::Result<bool> {
    for variant in &plan.variants {
        if lab::variant_reference(variant)?.program().is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Obtains them and puts them at the address. What another submission has put there is not sent
/// again.
pub fn send(depot: &Depot, address: &Address, machine: &Machine) -> anyhow::Result<()> {
    let place = Workplace::make(0)?;
    let Ready { options, cache, interrupted, mut progress, .. } =
        machine.ready(&place.path().join("results"))?;
    let builds = Builds::open(address)?;
    let mut all: Vec<Sent> = Vec::new();
    for variant in &depot.submission().plan_of(1)?.variants {
        let reference = lab::variant_reference(variant)?;
        let Some(text) = reference.program() else { continue };
        if all.iter().any(|it| it.program.reference == text) {
            continue;
        }
        let user = options.server_user.as_deref();
        let tell = |line: &str| eprintln!("{line}");
        let installation =
            dbms::obtain_interruptible(&reference, &cache, user, &interrupted, &tell)?;
        let program = Program::of(&reference, &installation, &cache);
        let program = program.with_context(|| format!("{reference} is not in the cache"))?;
        let object = fleet::patiently(is_final, || put(&builds, &program, &cache))?;
        progress.tell(Event::Note(format!("{reference} is at {}", builds.object(&object))));
        all.push(Sent { program, object });
    }
    progress.finish();
    fleet::patiently(fleet::Error::is_request, || depot.add_programs(&all))?;
    Ok(())
}

/// True unless the address can't be reached now.
fn is_final(error: &anyhow::Error) -> bool {
    error.downcast_ref().is_none_or(archive::Error::is_request)
}

fn put(builds: &Builds, program: &Program, cache: &Cache) -> anyhow::Result<SharedBuild> {
    let name = program.shared_name();
    let described = (name.as_str(), serde_json::to_value(program)?);
    let pack = |file: &Path| Ok::<_, anyhow::Error>(program.pack(cache, file)?);
    builds.push(described, &archives(cache), env!("CARGO_PKG_VERSION"), pack)?;
    let found = builds.find(&name)?;
    found.ok_or_else(|| anyhow::anyhow!("{name} was put at {} and is not there", builds.address()))
}

/// From now on, this machine gets the programs that element 0 has sent.
///
/// # Errors
/// If it has not yet, or they can't be read.
pub fn receive(depot: &Depot, address: &Address) -> anyhow::Result<()> {
    if !depot.submission().sends_programs {
        return Ok(());
    }
    let known = fleet::patiently(fleet::Error::is_request, || depot.programs::<Vec<Sent>>())?;
    let Some(all) = known else {
        let name = &depot.submission().name;
        anyhow::bail!(
            "the programs of `{name}` were not obtained; element 0 does that: steelyard submit \
             --resume {name}, or without Slurm, steelyard element {name} 0"
        );
    };
    let (here, there) = (std::env::consts::ARCH, all.iter().map(|it| &it.program.processor));
    if let Some(other) = there.into_iter().find(|it| *it != here) {
        anyhow::bail!(
            "the programs were obtained for {other}, and this machine is {here}; leave it out, or \
             submit for each kind of machine with --constraint"
        );
    }
    dbms::obtain_programs_from(Arc::new(At { builds: Builds::open_to_read(address)?, all }));
    Ok(())
}

/// An address with programs.
struct At {
    builds: Builds,
    all: Vec<Sent>,
}

impl ProgramSource for At {
    fn find(&self, reference: &str) -> Option<Program> {
        self.all.iter().map(|it| &it.program).find(|it| it.reference == reference).cloned()
    }

    fn fetch(&self, program: &Program, to: &Path) -> Result<String, String> {
        let found = self.all.iter().find(|it| it.program == *program);
        let Sent { object, .. } = found.ok_or("nobody has sent them")?;
        let fetched = fleet::patiently(archive::Error::is_request, || {
            // What a try that was broken off has left.
            let _ = std::fs::remove_file(to);
            self.builds.fetch(object, to)
        });
        fetched.map_err(|error| error.to_string())?;
        Ok(self.builds.object(object))
    }
}
