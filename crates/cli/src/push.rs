//! `steelyard push`: experiments to object storage or a service, or builds to object storage.

use std::path::Path;

use archive::{Address, Builds, Pushed, ServiceUrl};
use clap::Args;
use store::ExperimentState;

use crate::destination::Destination;
use crate::exit::refuse;
use crate::results::{ResultsDir, address, archives, called, find, note_running, open_directory};

/// The help text about addresses, for the commands that take one.
pub const ADDRESSES: &str = "\
Addresses:
  s3://BUCKET/PREFIX     Amazon S3, or with AWS_ENDPOINT_URL any service that speaks like it
                         (AWS_ALLOW_HTTP=true permits an endpoint without TLS)
  gs://BUCKET/PREFIX     Google Cloud Storage
  az://CONTAINER/PREFIX  Azure Blob Storage
  file:///PATH, PATH     a directory; ./NAME for a new one in the current directory

Credentials come from the environment (AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY,
GOOGLE_APPLICATION_CREDENTIALS, AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY), from the
files that the cloud's own tools use (for AWS the profile AWS_PROFILE of ~/.aws/credentials and
~/.aws/config: keys, region, endpoint_url; no roles, no single sign-on), or from the machine's
metadata service. An address has none.";

/// The same for a push, which may also be to a service.
const DESTINATIONS: &str = "\
A service (`steelyard serve`) that receives experiments:
  https://HOST           with a token from STEELYARD_TOKEN, or the file that STEELYARD_TOKEN_FILE
                         names; `steelyard serve token add NAME` makes one on that machine
  http://127.0.0.1:7700  one on this machine";

/// Copy experiments to object storage, from where any machine can pull them, or to a service
///
/// An experiment that is already there costs one request. Several machines may push at once. A push
/// that was interrupted leaves nothing visible; push again. To a service, it goes on where it was,
/// also if the service is restarted meanwhile.
///
/// With --builds, the builds from source in this machine's cache are copied instead of experiments.
/// `run`, `count` and `fetch` obtain them on other machines, if STEELYARD_BUILDS names the address.
/// A build fits only a machine that would build the same: same commit or tarball, options,
/// compiler, processor, distribution and C library. A machine without a compiler gets a build that
/// fits otherwise, if there is only one.
#[derive(Debug, Args)]
#[command(before_help = "Examples:
  steelyard push s3://team/bench
  steelyard push 3 https://bench.example.com")]
#[command(after_help = format!("{ADDRESSES}\n\n{DESTINATIONS}"))]
pub struct PushArgs {
    /// The experiments, by number or name [default: all that are not running]; and last where to,
    /// for example s3://bucket/prefix or https://bench.example.com
    #[arg(required = true, value_name = "EXPERIMENT… ADDRESS")]
    words: Vec<String>,
    /// Copy the finished builds in the cache, not experiments
    #[arg(long)]
    builds: bool,
    #[command(flatten)]
    directory: ResultsDir,
}

/// Pushes each experiment and reports the result.
pub fn run(args: &PushArgs) -> anyhow::Result<()> {
    let Some((last, experiments)) = args.words.split_last() else {
        return refuse("expected an address such as s3://bucket/prefix");
    };
    if let Some(address) = experiments.iter().find(|word| Address::is_meant(word)) {
        return refuse(format!("the address comes last, as in: steelyard push 1 {address}"));
    }
    if args.builds {
        return match experiments {
            [] if ServiceUrl::is_meant(last) => {
                refuse("a service takes no builds; name object storage, such as s3://BUCKET/PREFIX")
            }
            [] => {
                check_place(last, false)?;
                push_builds(&last.parse()?)
            }
            _ => refuse("--builds takes only an address; all finished builds are pushed"),
        };
    }
    if let Some(from) = address(&args.directory.results)? {
        return refuse(format!(
            "a push takes a results directory, not {from}; pull from there first"
        ));
    }
    let store = open_directory(&args.directory.results)?;
    check_place(last, called(&store, last)?.is_some())?;
    let mut chosen = Vec::new();
    if experiments.is_empty() {
        for experiment in store.all_experiments()?.into_iter().rev() {
            if experiment.state == ExperimentState::Running {
                let (id, name) = (experiment.id, &experiment.name);
                eprintln!(
                    "experiment {id} `{name}` is marked as running and left out; name it to push it as it is"
                );
            } else {
                chosen.push(experiment);
            }
        }
    } else {
        for name in experiments {
            let experiment = find(&store, Some(name))?;
            note_running(&experiment);
            chosen.push(experiment);
        }
    }
    let to = Destination::open(last)?;
    to.check()?;
    for experiment in chosen {
        println!("{}", to.push(&store, &experiment)?);
    }
    Ok(())
}

/// Refuses a single word that may not be meant as a directory: an experiment has this name or
/// number, or no directory has it.
fn check_place(word: &str, experiment: bool) -> anyhow::Result<()> {
    if Address::is_meant(word) || word.contains('/') {
        return Ok(());
    }
    if experiment {
        return refuse(format!(
            "`{word}` is an experiment, but where to is missing: name an address last, such as s3://BUCKET/PREFIX, or ./{word} for a directory"
        ));
    }
    if !Path::new(word).is_dir() {
        return refuse(format!(
            "there is no directory `{word}`; write ./{word} to create it, or an address such as s3://BUCKET/PREFIX"
        ));
    }
    Ok(())
}

/// Pushes all finished builds of the cache.
fn push_builds(to: &Address) -> anyhow::Result<()> {
    let cache = dbms::Cache::open_default()?;
    let finished = dbms::finished_builds(&cache);
    let builds = Builds::open(to)?;
    if finished.is_empty() {
        eprintln!("no builds from source in {}", cache.path().display());
    }
    for build in finished {
        let directory = build.directory.display();
        let Some(key) = &build.key else {
            eprintln!(
                "{directory} is left out: an earlier steelyard built it and did not record what it depends on; remove the directory to have it built again"
            );
            continue;
        };
        if let Some(why) = key.unshareable() {
            eprintln!("{directory} is left out: {why}");
            continue;
        }
        let name = key.shared_name();
        let described = (name.as_str(), serde_json::to_value(key)?);
        let pack = |file: &Path| Ok::<_, anyhow::Error>(build.pack(file)?);
        match builds.push(described, &archives(&cache), env!("CARGO_PKG_VERSION"), pack)? {
            Pushed::Added => println!("pushed build {name} to {to}"),
            Pushed::Present => println!("build {name} is already at {to}"),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_word_must_be_meant_as_a_directory() {
        let told = |word, experiment| check_place(word, experiment).map_err(|it| it.to_string());
        for (word, experiment) in
            [("s3://b/x", true), ("./6", true), ("/srv", false), ("src", false)]
        {
            assert_eq!(told(word, experiment), Ok(()), "{word}");
        }
        assert!(told("6", true).unwrap_err().contains("`6` is an experiment"));
        assert!(told("src", true).unwrap_err().contains("./src for a directory"));
        assert!(told("new", false).unwrap_err().contains("no directory `new`; write ./new"));
    }
}
