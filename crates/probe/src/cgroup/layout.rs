//! The position of this process in the control group hierarchies: v1, v2 or both.

use std::path::{Path, PathBuf};

use super::CgroupError;
use crate::proc::mounts;

/// The mounted control group hierarchies, with the directories of this process's own groups in
/// them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    pub(super) v1: Vec<Hierarchy>,
    pub(super) v2: Option<Hierarchy>,
}

/// One mounted hierarchy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hierarchy {
    /// v1: the controllers mounted together, like `["cpu", "cpuacct"]`; v2: empty.
    pub(super) controllers: Vec<String>,
    pub(super) mount: PathBuf,
    /// The directory of this process's group; the mount itself if that cannot be seen from here.
    pub(super) own: PathBuf,
}

impl Layout {
    /// As the kernel currently shows it to this process.
    ///
    /// # Errors
    /// [`CgroupError::NoHierarchy`] if `/proc` does not say, or no hierarchy is mounted.
    pub fn of_this_process() -> Result<Layout, CgroupError> {
        let read = |path| std::fs::read_to_string(path).unwrap_or_default();
        Layout::from_texts(&read("/proc/self/mountinfo"), &read("/proc/self/cgroup"))
    }

    /// From the texts of `mountinfo` and `/proc/PID/cgroup`; the mount points may be anywhere.
    ///
    /// # Errors
    /// [`CgroupError::NoHierarchy`] if no hierarchy is mounted in them.
    pub fn from_texts(mountinfo: &str, own_groups: &str) -> Result<Layout, CgroupError> {
        let mut layout = Layout { v1: Vec::new(), v2: None };
        for mount in mounts::parse(mountinfo) {
            let v1 = match mount.fs_type.as_str() {
                "cgroup" => true,
                "cgroup2" => false,
                _ => continue,
            };
            let options: Vec<&str> = mount.super_options.split(',').collect();
            let Some((controllers, group)) = own_group(own_groups, v1, &options) else {
                continue;
            };
            let hierarchy = Hierarchy {
                controllers,
                own: own_directory(&mount.point, &mount.root, Path::new(group)),
                mount: mount.point,
            };
            if v1 {
                // A hierarchy can be mounted twice; the first is enough.
                if !layout.v1.iter().any(|h| h.controllers == hierarchy.controllers) {
                    layout.v1.push(hierarchy);
                }
            } else {
                layout.v2.get_or_insert(hierarchy);
            }
        }
        if layout.v1.is_empty() && layout.v2.is_none() {
            return Err(CgroupError::NoHierarchy);
        }
        Ok(layout)
    }

    pub(super) fn v1_with(&self, controller: &str) -> Option<&Hierarchy> {
        self.v1.iter().find(|hierarchy| hierarchy.controllers.iter().any(|name| name == controller))
    }
}

impl Hierarchy {
    /// Directories in which a group could be created: this process's own, then those above it.
    pub(super) fn candidates(&self) -> Vec<PathBuf> {
        self.own
            .ancestors()
            .take_while(|directory| directory.starts_with(&self.mount))
            .map(Path::to_path_buf)
            .collect()
    }
}

/// The line of `/proc/PID/cgroup` (`number:controllers:path`) that belongs to a mount, as
/// controllers and path. The line without controllers is that of v2.
fn own_group<'a>(
    own_groups: &'a str,
    v1: bool,
    mount_options: &[&str],
) -> Option<(Vec<String>, &'a str)> {
    own_groups.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let controllers: Vec<&str> = parts.next()?.split(',').filter(|c| !c.is_empty()).collect();
        let path = parts.next()?;
        let belongs = if v1 {
            !controllers.is_empty() && controllers.iter().all(|c| mount_options.contains(c))
        } else {
            controllers.is_empty()
        };
        belongs.then(|| (controllers.iter().map(|c| (*c).to_owned()).collect(), path))
    })
}

/// Inside a container the mount may show only a part of the hierarchy (`root`), and the group's
/// path may be given from above it.
fn own_directory(point: &Path, root: &Path, group: &Path) -> PathBuf {
    let below = group.strip_prefix(root).unwrap_or(Path::new(""));
    let climbs = below.components().any(|part| !matches!(part, std::path::Component::Normal(_)));
    let own = point.join(below);
    if climbs || !own.is_dir() {
        return point.to_path_buf();
    }
    own
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_own_groups_of_a_hybrid_host() {
        let root = tempfile::tempdir().unwrap();
        let base = root.path().display();
        for directory in ["acct/user", "memory", "unified/a.slice"] {
            std::fs::create_dir_all(root.path().join(directory)).unwrap();
        }
        let mountinfo = format!(
            "32 31 0:29 / {base}/acct rw - cgroup cgroup rw,cpu,cpuacct\n\
             35 31 0:32 / {base}/memory rw - cgroup cgroup rw,memory\n\
             36 31 0:32 / {base}/again rw - cgroup cgroup rw,memory\n\
             41 31 0:38 / {base}/unified rw - cgroup2 cgroup2 rw\n"
        );
        let groups = "9:name=systemd:/\n4:memory:/gone\n2:cpu,cpuacct:/user\n0::/a.slice\n";
        let layout = Layout::from_texts(&mountinfo, groups).unwrap();
        let acct = layout.v1_with("cpuacct").unwrap();
        assert_eq!(acct.own, root.path().join("acct/user"));
        assert_eq!(layout.v1.len(), 2);
        let memory = layout.v1_with("memory").unwrap();
        assert_eq!(memory.own, root.path().join("memory"), "not visible: the mount itself");
        let v2 = layout.v2.as_ref().unwrap();
        let candidates = v2.candidates();
        assert_eq!(candidates, [root.path().join("unified/a.slice"), root.path().join("unified")]);
    }

    #[test]
    fn a_container_sees_only_its_part() {
        let root = tempfile::tempdir().unwrap();
        let base = root.path().display();
        std::fs::create_dir_all(root.path().join("db")).unwrap();
        let mountinfo = format!("41 31 0:38 /docker/abc {base} rw - cgroup2 cgroup rw\n");
        let layout = Layout::from_texts(&mountinfo, "0::/docker/abc/db\n").unwrap();
        assert_eq!(layout.v2.unwrap().own, root.path().join("db"));
        let layout = Layout::from_texts(&mountinfo, "0::/docker/abc\n").unwrap();
        assert_eq!(layout.v2.unwrap().own, root.path());
        let layout = Layout::from_texts(&mountinfo, "0::/../elsewhere\n").unwrap();
        assert_eq!(layout.v2.unwrap().own, root.path());
    }

    #[test]
    fn a_host_without_groups_says_so() {
        assert!(matches!(Layout::from_texts("", ""), Err(CgroupError::NoHierarchy)));
    }
}
