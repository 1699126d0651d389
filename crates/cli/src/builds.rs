//! Builds at an address, for commands that may have to build from source: connects `dbms` with
//! `archive`.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use archive::{Address, Builds, SharedBuild};
use clap::Args;
use dbms::{BuildKey, BuildOffer, BuildSource, BuildSourceError};

/// Where to obtain builds.
#[derive(Debug, Clone, Args)]
pub struct BuildsFrom {
    /// Obtain builds of git: and src: from this address, such as s3://BUCKET/PREFIX, where another
    /// machine put them with `steelyard push --builds`. What is not there is built here
    #[arg(long, value_name = "ADDRESS", env = "STEELYARD_BUILDS")]
    builds: Option<String>,
}

impl BuildsFrom {
    /// The option, if it is given.
    pub fn words(&self) -> Vec<String> {
        let address = self.builds.clone().filter(|text| !text.is_empty());
        address.map_or_else(Vec::new, |address| vec!["--builds".to_owned(), address])
    }

    /// From now on, looks for builds there first. Requests nothing before a build is needed.
    ///
    /// # Errors
    /// If it is not an address.
    pub fn register(&self) -> anyhow::Result<()> {
        if let Some(text) = self.builds.as_deref().filter(|text| !text.is_empty()) {
            let address: Address = text.parse()?;
            dbms::obtain_builds_from(Arc::new(At { address, state: Mutex::new(State::Unused) }));
        }
        Ok(())
    }
}

/// An address for builds.
struct At {
    address: Address,
    state: Mutex<State>,
}

enum State {
    Unused,
    Open(Builds),
    /// It could not be reached; the other variants of a run don't wait for it again.
    Unreachable,
}

impl BuildSource for At {
    fn address(&self) -> String {
        self.address.to_string()
    }

    fn fetch(&self, wanted: &BuildKey, to: &Path) -> Result<Option<BuildOffer>, BuildSourceError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let State::Unused = *state {
            *state = match Builds::open_to_read(&self.address) {
                Ok(builds) => State::Open(builds),
                Err(error) => {
                    *state = State::Unreachable;
                    return Err(explained(error));
                }
            };
        }
        let State::Open(builds) = &*state else {
            let text = "it could not be reached before, so it is not asked again";
            return Err(BuildSourceError::Unreachable(text.to_owned()));
        };
        let offer = fetch(builds, wanted, to).map_err(explained);
        if let Err(BuildSourceError::Unreachable(_)) = offer {
            *state = State::Unreachable;
        }
        offer
    }
}

fn fetch(
    builds: &Builds,
    wanted: &BuildKey,
    to: &Path,
) -> Result<Option<BuildOffer>, archive::Error> {
    let names = match wanted.compiler_version {
        Some(_) => vec![wanted.shared_name()],
        None => builds.names(&wanted.prefix())?,
    };
    let mut fitting = Vec::new();
    for name in names {
        let Some(build) = builds.find(&name)? else { continue };
        let key = key_of(builds, &build)?;
        if key.fits(wanted) {
            fitting.push((key, build));
        } else if wanted.compiler_version.is_some() {
            let problem = "it is another build than its name says".to_owned();
            return Err(archive::Error::DamagedBuild { name: builds.object(&build), problem });
        }
    }
    let Ok([(key, build)]) = <[_; 1]>::try_from(fitting) else { return Ok(None) };
    builds.fetch(&build, to)?;
    Ok(Some(BuildOffer { key, object: builds.object(&build) }))
}

/// The key of a build at an address, made of everything that the build depends on.
fn key_of(builds: &Builds, build: &SharedBuild) -> Result<BuildKey, archive::Error> {
    serde_json::from_value(build.build.clone()).map_err(|error| archive::Error::DamagedBuild {
        name: builds.object(build),
        problem: format!("its entry does not say what it depends on ({error})"),
    })
}

/// Something wrong with a build needs a person; whatever else happens, the build can be made here.
fn explained(error: archive::Error) -> BuildSourceError {
    match error {
        archive::Error::DamagedBuild { name: object, problem }
        | archive::Error::Damaged { name: object, problem } => {
            BuildSourceError::Damaged { object, problem }
        }
        other => BuildSourceError::Unreachable(other.to_string()),
    }
}
