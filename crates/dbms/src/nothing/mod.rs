//! No system at all: a directory, or a block device, for programs that are the load and the system
//! under test at once, such as fio or db_bench.
//!
//! A start still creates a process, which sleeps. It holds the control group and the entry in the
//! ledger, so a program is limited and watched like a server, and its leftovers are removed.

mod device;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::process::server::{ServerProcess, Signals};
use crate::process::site::Site;
use crate::{
    Compared, Config, Difference, Endpoint, Error, Footprint, Installation, Kind, Origin,
    ServerSpec, ServerUser, Setting, Settled, Snapshot, Started, System,
};

/// The program that sleeps.
const SLEEPER: &str = "/bin/sleep";

const SIGNALS: Signals =
    Signals { graceful: libc::SIGTERM, immediate: libc::SIGKILL, death: libc::SIGKILL };

/// `none`: a directory where servers keep their data, or `none@path:/mnt/a`: one below that path.
#[derive(Debug)]
pub(crate) struct Nothing;

/// `device@path:/dev/nvme1n1`: a block device, which is only read.
#[derive(Debug)]
pub(crate) struct BlockDevice;

impl Kind for Nothing {
    fn name(&self) -> &'static str {
        "none"
    }

    fn stands_alone(&self) -> bool {
        true
    }

    fn describe(&self, root: &Path, _: &ServerUser) -> Result<Installation, Error> {
        if !root.as_os_str().is_empty() && !root.is_dir() {
            let problem = match root.exists() {
                true => "it is not a directory; name one, or device@path:… for a block device",
                false => "there is no such directory; create it",
            };
            return Err(Error::Unusable { path: root.to_owned(), problem });
        }
        Ok(installation(self, root))
    }

    fn start(&self, spec: &ServerSpec<'_>, origin: Option<&Origin<'_>>) -> Result<Started, Error> {
        let place = spec.installation.programs()?;
        let name = spec.directory.file_name().unwrap_or_default();
        let directory = match place.as_os_str().is_empty() {
            true => spec.directory.to_path_buf(),
            false => place.join(format!("steelyard-{}", name.to_string_lossy())),
        };
        begin(&ServerSpec { directory: &directory, ..spec.clone() }, origin, None)
    }
}

impl Kind for BlockDevice {
    fn name(&self) -> &'static str {
        "device"
    }

    fn describe(&self, root: &Path, _: &ServerUser) -> Result<Installation, Error> {
        device::number(root)?;
        Ok(installation(self, root))
    }

    fn differences(&self, variants: &[Compared<'_>]) -> Vec<Difference> {
        let mounted = variants.iter().filter_map(|variant| {
            let device = variant.installation.bin_dir.as_deref()?;
            let text = format!(
                "{}: {} is mounted at {}; what others do there disturbs the reads",
                variant.name,
                device.display(),
                device::mounted_at(device)?
            );
            Some(Difference { code: "device-mounted", text })
        });
        mounted.collect()
    }

    fn start(&self, spec: &ServerSpec<'_>, _: Option<&Origin<'_>>) -> Result<Started, Error> {
        begin(spec, None, Some(spec.installation.programs()?))
    }
}

fn installation(kind: &dyn Kind, root: &Path) -> Installation {
    Installation {
        dbms: kind.name().to_owned(),
        version: String::new(),
        source: String::new(),
        bin_dir: Some(root.to_path_buf()),
        build: BTreeMap::new(),
    }
}

/// Makes the directory and, in it, a way to read `device`.
fn begin(
    spec: &ServerSpec<'_>,
    origin: Option<&Origin<'_>>,
    device: Option<&Path>,
) -> Result<Started, Error> {
    if let Some(file) = &spec.config_file {
        let what = format!("the configuration file {} without a DBMS", file.display());
        return Err(Error::unsupported(what, "remove `config_file`"));
    }
    let site = Site::make(spec, Path::new(SLEEPER))?;
    let restored = site.fill(origin, &[], None)?;
    let data = site.data.clone();
    let device = device.map(|device| device::for_reading(device, &data, &spec.user)).transpose()?;
    let process = site.start(SIGNALS, |command| {
        command.current_dir(&data).arg("infinity");
    })?;
    Ok((Box::new(Idle { process, device, config: spec.config.clone() }), restored))
}

/// A directory and its process.
struct Idle {
    process: ServerProcess,
    /// The node of the block device, where there is one.
    device: Option<PathBuf>,
    config: Config,
}

impl System for Idle {
    fn endpoint(&self) -> Endpoint {
        Endpoint::Nowhere { device: self.device.clone(), words: self.config.clone() }
    }

    fn process(&self) -> Option<&ServerProcess> {
        Some(&self.process)
    }

    fn process_mut(&mut self) -> Option<&mut ServerProcess> {
        Some(&mut self.process)
    }

    fn data_directory(&mut self) -> Option<PathBuf> {
        self.device.clone().or_else(|| self.process.data_directory())
    }

    fn settings(&mut self) -> Result<Vec<Setting>, Error> {
        let setting = |(name, value): (&String, &String)| Setting {
            name: name.clone(),
            value: value.clone(),
            unit: None,
            source: "plan".to_owned(),
            boot_value: None,
        };
        Ok(self.config.iter().map(setting).collect())
    }

    fn counters(&mut self, _objects: &[String]) -> Result<Snapshot, Error> {
        Ok(Snapshot::default())
    }

    fn footprint(&mut self, _objects: &[String]) -> Result<Vec<Footprint>, Error> {
        Ok(Vec::new())
    }

    fn settle(&mut self, _objects: &[String]) -> Result<Settled, Error> {
        Ok(Settled { seconds: 0.0, lines: vec!["nothing to pay off".to_owned()] })
    }

    fn flush(&mut self) -> Result<(), Error> {
        Ok(())
    }
}
