//! The file system and the block device that contain the data.

use std::path::Path;

use super::facts::Facts;
use crate::device::{Device, block_device_of, nearest_existing};
use crate::files::{read_number, read_trimmed};
use crate::proc::disk::SECTOR_BYTES;
use crate::proc::mounts;

/// Files below a block device's `queue` directory.
const QUEUE: &[&str] = &[
    "scheduler",
    "rotational",
    "nr_requests",
    "read_ahead_kb",
    "write_cache",
    "discard_max_bytes",
    "logical_block_size",
    "wbt_lat_usec",
];

pub(super) fn add(facts: &mut Facts, data_dir: &Path) {
    let text = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let mounts = mounts::parse(&text);
    let path = nearest_existing(data_dir);
    let mount = path.and_then(|path| mounts::mount_of(&mounts, &path));
    let why = "no mount in /proc/self/mountinfo contains the data directory";
    facts.add_or("storage", "file system", mount.map(|m| m.fs_type.clone()), why);
    // Without the source: network file systems name hosts in it.
    facts.add_or("storage", "mount options", mount.map(|m| m.options.clone()), why);
    let local = mount.filter(|m| m.major != 0 || m.source.starts_with("/dev/"));
    if let Some(mount) = local {
        facts.add("storage", "file system options", mount.super_options.clone());
    }
    match block_device_of(data_dir) {
        Some(device) => add_device(facts, &device),
        None => {
            facts.add("storage", "device", "unknown: no local block device holds this file system")
        }
    }
}

fn add_device(facts: &mut Facts, device: &Device) {
    let directory = device.directory();
    facts.add("storage", "device", device.name.clone());
    // A device-mapper device has no model; the device below it has.
    let model = read_trimmed(directory.join("device/model")).or_else(|| {
        read_trimmed(directory.join("dm/name")).map(|name| format!("device mapper {name}"))
    });
    facts.add_or("storage", "model", model, "the device names none (usual for virtual disks)");
    facts.add_file_if_there("storage", "firmware", directory.join("device/firmware_rev"));
    if let Ok(below) = std::fs::read_dir(directory.join("slaves")) {
        let mut names: Vec<String> =
            below.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        if !names.is_empty() {
            names.sort_unstable();
            facts.add("storage", "lies on", names.join(", "));
        }
    }
    let size = read_number(directory.join("size"))
        .map(|sectors| format!("{} MB", sectors * SECTOR_BYTES / 1_000_000));
    facts.add_or("storage", "size", size, "the device does not say");
    for name in QUEUE {
        facts.add_file("storage", name, directory.join("queue").join(name));
    }
}
