//! `steelyard setup`: prepares a bare server for measurements.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, ValueEnum};
use setup::{CLOUD_INIT, CREATE, Cluster, Request, SCRIPT, Setup};

use crate::dash::is_dash;
use crate::exit::refuse;

/// Make a server fit to measure on: commands that create it in a cloud, and a script that sets it
/// up.
///
/// Writes text and runs nothing: read it, then run it. With `-o DIR`, writes all files there;
/// otherwise names the one to print.
///
/// The script installs packages, formats and mounts the data disk (never one that holds anything),
/// raises the limit of open files, keeps shared memory after a logout, and sets huge pages,
/// swapping, dirty pages, NUMA balancing, autogroup, the governor, readahead and access to perf as
/// `steelyard doctor` wants them, also after a reboot. Upgrades wait while steelyard runs. It works
/// on Debian and Ubuntu; on other systems it does everything except install packages. Running it
/// again changes nothing; its top says how to undo it.
///
/// steelyard knows neither the prices of a cloud nor your quotas.
#[derive(Debug, Args)]
#[command(before_help = EXAMPLES)]
pub struct SetupArgs {
    /// The text to print; or cluster, for files that make a Slurm cluster of several machines
    #[arg(value_enum, required_unless_present = "output")]
    part: Option<Part>,
    /// Write all files into this directory, created if missing. Existing files are not replaced
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,

    /// Where the server is created
    #[arg(long, value_enum, default_value_t, help_heading = "New instance")]
    cloud: Cloud,
    /// Machine type, such as c2-standard-60 or c7i.16xlarge
    #[arg(long, value_name = "TYPE", help_heading = "New instance")]
    machine: Option<String>,
    /// Zone, such as us-west1-b or us-west-2b
    #[arg(long, help_heading = "New instance")]
    zone: Option<String>,
    /// Name of the instance; its data disk is NAME-db
    #[arg(long, default_value = "bench", help_heading = "New instance")]
    name: String,
    /// Release of Ubuntu
    #[arg(long, value_enum, default_value_t, help_heading = "New instance")]
    ubuntu: Ubuntu,
    /// Type of the data disk, or none [default: pd-ssd on gcp, gp3 on aws]
    #[arg(long, value_name = "TYPE", help_heading = "New instance")]
    disk: Option<String>,
    /// Size of the data disk, such as 3000GB or 3TB [default: 1000GB]
    #[arg(long, value_name = "SIZE", value_parser = gigabytes, help_heading = "New instance")]
    disk_size: Option<u32>,
    /// Operations per second, for types of disk that sell them
    #[arg(long, value_name = "N", help_heading = "New instance")]
    disk_iops: Option<u32>,
    /// MB/s, for types of disk that sell them
    #[arg(long, value_name = "N", help_heading = "New instance")]
    disk_throughput: Option<u32>,
    /// Bucket that the instance may read and write
    #[arg(long, help_heading = "New instance")]
    bucket: Option<String>,
    /// Name of the key pair to log in with (aws)
    #[arg(long, value_name = "NAME", help_heading = "New instance")]
    key: Option<String>,
    /// Use this instance profile; otherwise --bucket makes one (aws)
    #[arg(long, value_name = "NAME", help_heading = "New instance")]
    instance_profile: Option<String>,

    /// The user who owns the data directory and, on gcp, logs in [default: on gcp you or, as root,
    /// the user who called sudo, otherwise ubuntu; on aws ubuntu; on an existing server the user
    /// who calls sudo there]
    #[arg(long, value_name = "NAME", help_heading = "Server")]
    user: Option<String>,
    /// Directory of the data, where the data disk is mounted
    #[arg(long, value_name = "DIR", default_value = "/data", help_heading = "Server")]
    dir: String,
    /// The data disk: none, auto (the only empty disk), or a path or pattern such as
    /// '/dev/disk/by-id/nvme-*' [default: the new instance's, or none]
    #[arg(long, help_heading = "Server")]
    device: Option<String>,
    /// The file system of the data disk
    #[arg(long, value_enum, default_value_t, help_heading = "Server")]
    filesystem: Filesystem,
    /// Files that a process may have open, up to 524288
    #[arg(long, value_name = "N", default_value_t = 65_536, help_heading = "Server")]
    nofile: u32,
    /// Also install this package (repeatable)
    #[arg(long = "package", value_name = "NAME", help_heading = "Server")]
    packages: Vec<String>,
    /// Also turn off boost: a steady clock, but a lower one
    #[arg(long, help_heading = "Server")]
    no_boost: bool,
    /// Also turn off SMT; a virtual machine in a cloud is created without it
    #[arg(long, help_heading = "Server")]
    no_smt: bool,
    /// Also turn off idle states that take longer than 20 µs to leave
    #[arg(long, help_heading = "Server")]
    no_deep_idle: bool,

    /// The machines: a file with the line that `slurmd -C` prints on each (- for standard input)
    #[arg(long, value_name = "FILE", help_heading = "Cluster")]
    nodes: Option<PathBuf>,
    /// The machine of Slurm's controller, NAME or NAME(ADDRESS); better none that measures
    #[arg(long, value_name = "HOST", help_heading = "Cluster")]
    controller: Option<String>,
    /// Name of the partition to measure in
    #[arg(long, value_name = "NAME", default_value = "bench", help_heading = "Cluster")]
    partition: String,
    /// Where steelyard is on the machines
    #[arg(
        long,
        value_name = "FILE",
        default_value = "/usr/local/bin/steelyard",
        help_heading = "Cluster"
    )]
    steelyard: String,
}

const EXAMPLES: &str = "\
Examples:
  A server in a cloud:
    steelyard setup --cloud gcp --machine c2-standard-60 --zone us-west1-b -o bench
    bench/create.sh
  A server that exists, its one empty disk for data:
    steelyard setup script --device auto > setup.sh
    ssh HOST sudo bash -s < setup.sh
  A Slurm cluster of machines that exist, after apt-get install slurmd on each:
    for host in n1 n2 n3; do ssh $host /usr/sbin/slurmd -C; done > nodes.txt
    steelyard setup cluster --controller head --nodes nodes.txt -o cluster
    cluster/all.sh";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// The script that sets up the server it runs on
    Script,
    /// The cloud-init file that runs the same script at the first boot
    CloudInit,
    /// The script that creates the instance; it needs cloud-init.yaml in the same directory
    Create,
    /// Files that make a Slurm cluster, with -o
    Cluster,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Cloud {
    /// The server exists already
    #[default]
    None,
    /// Google Compute Engine
    Gcp,
    /// Amazon EC2
    Aws,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Ubuntu {
    #[value(name = "22.04")]
    Jammy,
    #[default]
    #[value(name = "24.04")]
    Noble,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Filesystem {
    #[default]
    Xfs,
    Ext4,
}

/// `3TB`, `3000GB` or `3000`, in GB.
fn gigabytes(text: &str) -> Result<u32, String> {
    let upper = text.to_ascii_uppercase();
    let upper = upper.strip_suffix('B').unwrap_or(&upper);
    let (digits, factor) = match upper.strip_suffix('T') {
        Some(digits) => (digits, 1_000),
        None => (upper.strip_suffix('G').unwrap_or(upper), 1),
    };
    let number = digits.parse::<u32>().ok().and_then(|number| number.checked_mul(factor));
    number.ok_or_else(|| "expected a size such as 3000GB or 3TB".to_owned())
}

impl SetupArgs {
    fn request(&self) -> Request {
        let person = |variable: &str| {
            std::env::var(variable).ok().filter(|user| !["", "root"].contains(&user.as_str()))
        };
        let caller = || person("USER").or_else(|| person("SUDO_USER"));
        let user = match self.cloud {
            // As whom gcloud logs in.
            Cloud::Gcp => self.user.clone().or_else(caller),
            Cloud::None | Cloud::Aws => self.user.clone(),
        };
        Request {
            cloud: match self.cloud {
                Cloud::None => setup::Cloud::None,
                Cloud::Gcp => setup::Cloud::Gcp,
                Cloud::Aws => setup::Cloud::Aws,
            },
            name: self.name.clone(),
            machine: self.machine.clone(),
            zone: self.zone.clone(),
            ubuntu: match self.ubuntu {
                Ubuntu::Jammy => setup::Ubuntu::Jammy,
                Ubuntu::Noble => setup::Ubuntu::Noble,
            },
            disk: self.disk.clone(),
            disk_size: self.disk_size,
            disk_iops: self.disk_iops,
            disk_throughput: self.disk_throughput,
            key: self.key.clone(),
            bucket: self.bucket.clone(),
            instance_profile: self.instance_profile.clone(),
            user,
            data_dir: self.dir.clone(),
            device: self.device.clone(),
            filesystem: match self.filesystem {
                Filesystem::Xfs => setup::Filesystem::Xfs,
                Filesystem::Ext4 => setup::Filesystem::Ext4,
            },
            nofile: self.nofile,
            no_boost: self.no_boost,
            no_smt: self.no_smt,
            no_deep_idle: self.no_deep_idle,
            packages: self.packages.clone(),
        }
    }
}

/// Prints or writes the texts.
pub fn run(args: &SetupArgs) -> anyhow::Result<()> {
    if args.part == Some(Part::Cluster) {
        return cluster(args);
    }
    if args.nodes.is_some() || args.controller.is_some() {
        return refuse("--nodes and --controller are about a cluster: steelyard setup cluster …");
    }
    if args.part.is_some() && args.output.is_some() {
        return refuse("-o writes all files; leave out the name of one, or print it without -o");
    }
    let setup = match Setup::new(args.request()) {
        Ok(setup) => setup,
        Err(error) => return refuse(error.to_string()),
    };
    if args.output.as_deref().is_some_and(is_dash) {
        return refuse(
            "-o names a directory for several files; to print one of them, name it instead of -o",
        );
    }
    let Some(directory) = &args.output else {
        let text = match args.part {
            Some(Part::CloudInit) => setup.cloud_init(),
            Some(Part::Create) => match setup.create() {
                Some(text) => text,
                None => return refuse("nothing to create: add --cloud gcp or --cloud aws"),
            },
            Some(Part::Script) | None => setup.script(),
            Some(Part::Cluster) => return cluster(args),
        };
        std::io::stdout().lock().write_all(text.as_bytes())?;
        return Ok(());
    };
    write_all(directory, &setup)
}

/// Writes the files of a cluster.
fn cluster(args: &SetupArgs) -> anyhow::Result<()> {
    let (Some(nodes), Some(controller), Some(directory)) =
        (&args.nodes, &args.controller, &args.output)
    else {
        return refuse(
            "a cluster needs --nodes FILE, --controller HOST and -o DIR, as in: steelyard setup \
             cluster --controller head --nodes nodes.txt -o cluster",
        );
    };
    let read = match is_dash(nodes) {
        true => std::io::read_to_string(std::io::stdin()),
        false => fs::read_to_string(nodes),
    };
    let nodes = match read {
        Ok(text) => text,
        Err(error) => {
            return refuse(format!("--nodes: cannot read {}: {error}", nodes.display()));
        }
    };
    let cluster = match Cluster::new(controller, &nodes, &args.partition, &args.steelyard) {
        Ok(cluster) => cluster,
        Err(error) => return refuse(error.to_string()),
    };
    let mode = |runs| if runs { 0o755 } else { 0o644 };
    let files = cluster.files().into_iter().map(|it| (it.name, it.text, mode(it.runs), it.what));
    let all = directory.join("all.sh");
    let next = format!(
        "read them, then run {}; or copy them to each machine and run node.sh there",
        all.display()
    );
    write(directory, &files.collect::<Vec<_>>(), &next)
}

fn write_all(directory: &Path, setup: &Setup) -> anyhow::Result<()> {
    let create = setup.create();
    let next = match &create {
        Some(_) => format!("read it, then run {}", directory.join(CREATE).display()),
        None => format!("next: ssh HOST sudo bash -s < {}", directory.join(SCRIPT).display()),
    };
    let mut files = vec![
        (CLOUD_INIT, setup.cloud_init(), 0o644, "runs the same script at a first boot"),
        (SCRIPT, setup.script(), 0o755, "sets up the server it runs on"),
    ];
    files.extend(
        create.map(|text| (CREATE, text, 0o755, "creates the instance, which costs money")),
    );
    write(directory, &files, &next)
}

/// A file's name, text, mode and purpose.
type File = (&'static str, String, u32, &'static str);

/// Writes all files, or none if one of them exists, and says what is next.
fn write(directory: &Path, files: &[File], next: &str) -> anyhow::Result<()> {
    let doing = || format!("cannot write to {}", directory.display());
    fs::create_dir_all(directory).with_context(doing)?;
    for (name, ..) in files {
        let path = directory.join(name);
        if path.symlink_metadata().is_ok() {
            return refuse(format!("{} exists; name another directory", path.display()));
        }
    }
    let mut made = Vec::new();
    let written = files.iter().try_for_each(|(name, text, mode, _)| {
        let path = directory.join(name);
        let mut file = fs::File::create_new(&path)?;
        made.push(path);
        file.write_all(text.as_bytes())?;
        file.set_permissions(fs::Permissions::from_mode(*mode))
    });
    if let Err(error) = written {
        // Half of a script must not be run.
        for path in made {
            let _ = fs::remove_file(path);
        }
        return Err(error).with_context(doing);
    }
    for (name, _, _, what) in files {
        println!("{}: {what}", directory.join(name).display());
    }
    println!("{next}");
    Ok(())
}
