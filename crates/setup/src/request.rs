//! The options of a setup.

/// Where the server is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cloud {
    /// It exists already.
    #[default]
    None,
    /// Google Compute Engine.
    Gcp,
    /// Amazon EC2.
    Aws,
}

/// Filesystem of the data disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Filesystem {
    /// XFS.
    #[default]
    Xfs,
    /// ext4.
    Ext4,
}

/// Who can log in to a new instance of Ubuntu's images, which make this user.
pub(crate) const IMAGE_USER: &str = "ubuntu";

/// Release of Ubuntu that a new instance gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ubuntu {
    /// 22.04 LTS.
    Jammy,
    /// 24.04 LTS.
    #[default]
    Noble,
}

/// A description of a server, as given by the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Where it is.
    pub cloud: Cloud,
    /// Name of a new instance. Its data disk gets the name and `-db`.
    pub name: String,
    /// Machine type of a new instance.
    pub machine: Option<String>,
    /// Zone of a new instance.
    pub zone: Option<String>,
    /// Its system.
    pub ubuntu: Ubuntu,
    /// Type of its data disk; `none` if it has none.
    pub disk: Option<String>,
    /// Size of its data disk in GB.
    pub disk_size: Option<u32>,
    /// Operations per second of the data disk, if its type lets one choose.
    pub disk_iops: Option<u32>,
    /// MB/s of the data disk, if its type lets one choose.
    pub disk_throughput: Option<u32>,
    /// Name of the key pair for SSH (AWS).
    pub key: Option<String>,
    /// Bucket for results and binaries, perhaps with `gs://` or `s3://` before it.
    pub bucket: Option<String>,
    /// An instance profile that exists (AWS).
    pub instance_profile: Option<String>,
    /// Who owns the data directory; by default, `ubuntu` on a new instance.
    pub user: Option<String>,
    /// Where the data disk is mounted.
    pub data_dir: String,
    /// The data disk as the server sees it: `none`, `auto`, or a path or pattern below `/dev`.
    pub device: Option<String>,
    /// The filesystem for an empty data disk.
    pub filesystem: Filesystem,
    /// Files that a process may have open.
    pub nofile: u32,
    /// Turn off boost.
    pub no_boost: bool,
    /// Turn off SMT on an existing server. Virtual machines in clouds are created without it.
    pub no_smt: bool,
    /// Turn off idle states that take longer than 20 µs to leave.
    pub no_deep_idle: bool,
    /// Packages to install with the others.
    pub packages: Vec<String>,
}

impl Default for Request {
    fn default() -> Request {
        Request {
            cloud: Cloud::None,
            name: "bench".to_owned(),
            machine: None,
            zone: None,
            ubuntu: Ubuntu::default(),
            disk: None,
            disk_size: None,
            disk_iops: None,
            disk_throughput: None,
            key: None,
            bucket: None,
            instance_profile: None,
            user: None,
            data_dir: "/data".to_owned(),
            device: None,
            filesystem: Filesystem::default(),
            nofile: 65_536,
            no_boost: false,
            no_smt: false,
            no_deep_idle: false,
            packages: Vec::new(),
        }
    }
}

impl Request {
    /// The data disk that a new instance gets: type and size in GB.
    pub(crate) fn new_disk(&self) -> Option<(&str, u32)> {
        let kind = self.disk.as_deref().filter(|kind| *kind != "none")?;
        Some((kind, self.disk_size?))
    }

    /// A machine without a hypervisor, which shows all threads of its cores.
    pub(crate) fn is_metal(&self) -> bool {
        self.machine.as_deref().is_some_and(|machine| machine.contains("metal"))
    }

    /// The bucket's name without the prefix for its cloud.
    pub(crate) fn bucket_name(&self) -> Option<&str> {
        let bucket = self.bucket.as_deref()?;
        Some(bucket.split_once("://").map_or(bucket, |(_, name)| name))
    }
}
