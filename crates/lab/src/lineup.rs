//! Checks before anything is measured: is the plan possible, and is everything it needs available?

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};

use dbms::{BuildOptions, BuildSystem, Installation, Reference};
use plan::{Pairing, Plan, Variant, WorkloadPlan};
use workload::{Dialect, Phase};

use crate::error::Error;
use crate::event::Event;
use crate::own_data::OwnData;
use crate::subject::{Lineup, Subject};
use crate::systems::Systems;
use crate::trial::program::check_present;
use crate::trial::terms;

/// Obtains every variant and checks that the benchmark can run on it.
///
/// # Errors
///
/// [`Error::Variant`], [`Error::Workload`], [`Error::NoCopy`], [`Error::Interrupted`].
pub fn line_up(
    plan: Plan,
    systems: &dyn Systems,
    server_user: Option<&str>,
    interrupted: &AtomicBool,
    on_event: &mut dyn FnMut(Event),
) -> Result<Lineup, Error> {
    let on_event = RefCell::new(on_event);
    let note = |line: &str| (on_event.borrow_mut())(Event::Note(line.to_owned()));
    let mut references = Vec::new();
    for variant in &plan.variants {
        let of = |error| Error::of(&variant.name, error);
        let reference = variant_reference(variant).map_err(of)?;
        if let WorkloadPlan::Program(_) = plan.workload {
            reference.check_programs().map_err(of)?;
        }
        references.push(reference);
    }
    let (mut subjects, mut counters) = (Vec::new(), None);
    let mut variants: Vec<_> = plan.variants.iter().zip(references).enumerate().collect();
    // What can be looked at here comes before what has to be fetched.
    variants.sort_by_key(|(_, (_, reference))| reference.program().is_some());
    for (place, (variant, reference)) in variants {
        if interrupted.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        let configured = !variant.config.is_empty() || variant.config_file.is_some();
        if configured && variant.is_running() {
            return Err(Error::Configured { variant: variant.name.clone() });
        }
        let installation = systems.obtain(&reference, server_user, interrupted, &note).map_err(
            |error| match error {
                dbms::Error::Connect { .. } => {
                    Error::NoServer { variant: variant.name.clone(), source: Box::new(error) }
                }
                error => Error::of(&variant.name, error),
            },
        )?;
        if plan.restore_after.is_some() && !installation.is_ours() {
            return Err(Error::NoCopy { variant: variant.name.clone() });
        }
        if plan.pairing == Pairing::Frozen {
            dbms::timers(&installation, variant.engine.as_deref())
                .map_err(|error| Error::of(&variant.name, error))?;
        }
        let mut variant = variant.clone();
        if variant.engine.is_some() {
            dbms::check_engine(&installation, variant.engine.as_deref())
                .map_err(|error| Error::of(&variant.name, error))?;
        }
        make_durable(&mut variant, &installation)?;
        let mut subject = Subject {
            dialect: dialect(&installation, variant.engine.as_deref()),
            variant,
            reference,
            installation,
            own_data: None,
        };
        for sequence in plan.workload.sequences() {
            let benchmark = subject.benchmark(&plan.workload, sequence.key)?;
            check_present(&subject, &benchmark.phases)?;
            terms::check(&subject, &benchmark)?;
            let steps = benchmark.phases.iter().filter_map(Phase::step);
            counters = counters.or(steps.filter_map(|step| step.terms.counters).next());
        }
        let named = (&*subject.variant.name, &subject.installation);
        subject.own_data = OwnData::of(&plan, named, interrupted)?;
        let several = plan.workload.data_directories().is_some_and(|it| it.restore.len() > 1);
        if let Some(own) = subject.own_data.as_ref().filter(|_| several) {
            let directory = own.directory().display();
            note(&format!("{} starts from {directory}", subject.variant.name));
        }
        subjects.push((place, subject));
    }
    subjects.sort_by_key(|(place, _)| *place);
    let subjects = subjects.into_iter().map(|(_, subject)| subject).collect();
    Ok(Lineup { plan, subjects, counters, cache: systems.cache().clone() })
}

/// Adds the settings that a variant's durability means on its system.
///
/// # Errors
/// [`Error::Variant`] if the system has nothing for it; [`Error::Contradiction`] if the variant
/// sets one of them to something else.
fn make_durable(variant: &mut Variant, installation: &Installation) -> Result<(), Error> {
    let (Some(declared), true) = (variant.durability, installation.is_ours()) else {
        return Ok(());
    };
    let of = |error| Error::of(&variant.name, error);
    let settings =
        dbms::durability(installation, variant.engine.as_deref(), level(declared)).map_err(of)?;
    for (setting, value) in settings {
        let same = |name: &str| dbms::same_setting(installation, name, &setting);
        match variant.config.iter().find(|(name, _)| same(name)) {
            Some((_, own)) if !same_switch(own, &value) => {
                let (variant, own) = (variant.name.clone(), own.clone());
                return Err(Error::Contradiction { variant, setting, own, value });
            }
            Some(_) => {}
            None => drop(variant.config.insert(setting, value)),
        }
    }
    Ok(())
}

/// A durability of a plan, for a system.
pub fn level(durability: plan::Durability) -> dbms::Durability {
    match durability {
        plan::Durability::Full => dbms::Durability::Full,
        plan::Durability::Relaxed => dbms::Durability::Relaxed,
    }
}

/// True if two values of a setting are the same, allowing for the spellings of a switch.
fn same_switch(one: &str, other: &str) -> bool {
    let plain = |value: &str| {
        let value = value.trim().to_ascii_lowercase();
        match value.as_str() {
            "true" | "yes" | "on" => "1".to_owned(),
            "false" | "no" | "off" => "0".to_owned(),
            _ => value,
        }
    };
    plain(one) == plain(other)
}

/// The reference of a variant, with the options of its build.
///
/// # Errors
/// When it does not name a system, or the options don't apply to it.
pub fn variant_reference(variant: &Variant) -> Result<Reference, dbms::Error> {
    let reference: Reference = variant.dbms.parse()?;
    let Some(build) = &variant.build else { return Ok(reference) };
    let default = BuildOptions::default();
    reference.with_build(BuildOptions {
        cflags: build.cflags.clone().unwrap_or(default.cflags),
        compiler: build.compiler.clone().unwrap_or(default.compiler),
        configure: build.configure.clone(),
        system: build.system.map(|system| match system {
            plan::BuildSystem::Make => BuildSystem::Make,
            plan::BuildSystem::Meson => BuildSystem::Meson,
        }),
    })
}

/// The dialect of an installation, from the first number of its version.
fn dialect(installation: &Installation, engine: Option<&str>) -> Dialect {
    Dialect::of(&installation.dbms, installation.major().unwrap_or(0), engine)
}
