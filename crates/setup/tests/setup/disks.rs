//! The disks that the script takes. It never formats one that holds something.

use std::fs::{self, OpenOptions};
use std::io::{Seek, SeekFrom, Write};

use setup::{Filesystem, Request};

use crate::world::{Ran, on_a_server, run, script, shell};

const BY_ID: &str = "/dev/disk/by-id/google-bench-db0";

fn on(device: &str) -> String {
    let device = Some(device.to_owned());
    script(Request { user: Some("daemon".to_owned()), device, ..Request::default() })
}

/// Runs the script, which must refuse the disk for this reason, leave it as it is, and do the rest.
fn refused(device: &str, reason: &str) {
    let before = shell(&format!("head -c 4M {device} | sha256sum"));
    let fstab = fs::read("/etc/fstab").unwrap();
    let ran = run(&on(BY_ID));
    let (state, said) = ran.item("storage");
    assert!(state == "fail" && said.contains(reason), "{reason}: {said}\n{}", ran.errors);
    assert_eq!(ran.code, Some(1), "{reason}");
    assert_eq!(shell(&format!("head -c 4M {device} | sha256sum")), before, "{reason}");
    assert_eq!(fs::read("/etc/fstab").unwrap(), fstab, "{reason}");
    assert!(["ok", "changed"].contains(&ran.item("kernel").0), "{reason}");
}

fn write(device: &str, offset: u64, bytes: &[u8]) {
    let mut file = OpenOptions::new().write(true).open(device).unwrap();
    file.seek(SeekFrom::Start(offset)).unwrap();
    file.write_all(bytes).unwrap();
    file.sync_all().unwrap();
}

fn emptied(device: &str) {
    shell(&format!(
        "wipefs -qa {device}; dd if=/dev/zero of={device} bs=1M count=8 conv=fsync status=none"
    ));
}

#[test]
fn a_disk_that_holds_something_is_never_formatted() {
    on_a_server(&[400], |devices| {
        let device = &*devices[0];
        shell(&format!("mkfs.ext4 -q -L theirs {device}"));
        refused(device, "has a signature: ext4");
        shell(&format!("mount -o ro {device} /mnt"));
        refused(device, "in use at /mnt");
        shell("umount /mnt");
        emptied(device);

        shell(&format!("mkswap {device}"));
        refused(device, "has a signature: swap");
        emptied(device);

        // A partition table of DOS with one partition, from sector 2048.
        let mut table = [0; 66];
        table[4] = 0x83;
        table[8..12].copy_from_slice(&2048_u32.to_le_bytes());
        table[12..16].copy_from_slice(&4096_u32.to_le_bytes());
        table[64..].copy_from_slice(&[0x55, 0xAA]);
        write(device, 446, &table);
        refused(device, "has a signature: dos");
        emptied(device);

        write(device, 300_000, b"rows of a database without a filesystem");
        refused(device, "its first MB is not empty");
        emptied(device);

        shell(&format!("blockdev --setro {device}"));
        refused(device, "read-only");
        shell(&format!("blockdev --setrw {device}"));

        // A filesystem with our label, of another type.
        shell(&format!("mkfs.ext4 -q -L steelyard {device}"));
        refused(device, "has a signature: ext4");
        emptied(device);

        fs::create_dir("/data").unwrap();
        fs::write("/data/rows", "").unwrap();
        refused(device, "/data is not empty");
        fs::remove_file("/data/rows").unwrap();

        fs::write("/etc/fstab", "UUID=1 /data xfs defaults 0 0\nUUID=2 /data xfs defaults 0 0\n")
            .unwrap();
        refused(device, "/etc/fstab has 2 lines for /data");
        fs::write("/etc/fstab", "# UUID=1 /data xfs defaults 0 0\n").unwrap();

        assert_eq!(run(&on(BY_ID)).item("storage").0, "changed", "empty at last");
        assert_eq!(shell("grep -c /data /etc/fstab"), "2\n");
    });
}

#[test]
fn the_disk_of_an_earlier_setup_is_found_again() {
    on_a_server(&[400], |devices| {
        // As if a run had ended between mkfs and fstab, or the disk came from another server.
        shell(&format!(
            "mkfs.xfs -q -L steelyard {0}; mount {0} /mnt; touch /mnt/rows; umount /mnt",
            devices[0]
        ));
        let ran = run(&on(BY_ID));
        let said =
            format!("found the disk of an earlier setup, {}, mounted it at /data", devices[0]);
        assert_eq!(ran.item("storage"), ("changed", &*said));
        assert!(fs::exists("/data/rows").unwrap());
        assert_eq!(run(&on(BY_ID)).item("storage").0, "ok");
    });
}

#[test]
fn a_disk_that_is_mounted_there_comes_into_fstab() {
    on_a_server(&[400], |devices| {
        shell(&format!(
            "mkfs.ext4 -q {0}; mkdir /data; mount {0} /data; touch /data/rows",
            devices[0]
        ));
        // Even if no disk is asked for.
        let ran = run(&on("none"));
        let said = format!("{} was mounted at /data; now also by /etc/fstab", devices[0]);
        assert_eq!(ran.item("storage"), ("changed", &*said));
        shell("umount /data; mount -a; test -e /data/rows");
        assert_eq!(
            shell("grep -c ' /data ext4 defaults,discard,noatime,nofail 0 2$' /etc/fstab"),
            "1\n"
        );
        assert_eq!(run(&on("none")).item("storage").0, "ok");
    });
}

#[test]
fn without_a_disk_the_directory_is_made() {
    on_a_server(&[400], |devices| {
        let ran = run(&on("none"));
        assert_eq!(ran.item("storage"), ("skip", "no disk was asked for; /data is a directory"));
        assert_eq!(ran.item("owner"), ("changed", "/data now belongs to daemon"));
        assert_eq!(ran.code, Some(0), "{}", ran.errors);
        assert_eq!(shell(&format!("wipefs -n {}", devices[0])), "");
        let missing = run(&on("/dev/disk/by-id/google-other"));
        let said = "found no disk for /dev/disk/by-id/google-other; lsblk shows what there is";
        assert_eq!(missing.item("storage"), ("fail", said));
        assert_eq!(missing.item("owner"), ("fail", "nothing is mounted at /data"));
    });
}

#[test]
fn one_of_two_empty_disks_must_be_named() {
    on_a_server(&[400, 400], |devices| {
        let ran = run(&on("/dev/disk/by-id/google-*"));
        let (state, said) = ran.item("storage");
        assert_eq!(state, "fail");
        assert!(said.contains(&devices[0]) && said.contains(&devices[1]), "{said}");
        for device in devices {
            assert_eq!(shell(&format!("wipefs -n {device}")), "");
        }
        // One that holds something is not meant.
        shell(&format!("mkfs.ext4 -q {}", devices[0]));
        assert_eq!(run(&on("/dev/disk/by-id/google-*")).item("storage").0, "changed");
        assert_eq!(shell("findmnt -no SOURCE /data").trim(), devices[1]);
    });
}

#[test]
fn the_only_empty_disk_is_found_by_itself() {
    on_a_server(&[1_100], |devices| {
        // lsblk says `loop` of it, as no disk of a server does.
        let auto = |text: &str| -> Ran {
            let name = &devices[0];
            let real = format!("/usr/bin/lsblk \"$@\" | sed 's|^{name} loop |{name} disk |'");
            fs::create_dir_all("/run/bin").unwrap();
            fs::write("/run/bin/lsblk", format!("#!/bin/sh\n{real}\n")).unwrap();
            shell("chmod +x /run/bin/lsblk");
            run(&text.replacen(
                "set -euo pipefail\n",
                "set -euo pipefail\nPATH=/run/bin:$PATH\n",
                1,
            ))
        };
        let device = Some("auto".to_owned());
        let request = Request { device, filesystem: Filesystem::Ext4, ..Request::default() };
        let ran = auto(&script(request));
        let said = format!("formatted {} with ext4, mounted it at /data", devices[0]);
        assert_eq!(ran.item("storage"), ("changed", &*said), "{}", ran.errors);
        assert_eq!(ran.item("owner"), ("ok", "/data belongs to root"));
        assert!(fs::read_to_string("/etc/fstab").unwrap().ends_with(" 0 2\n"));
    });
}

#[test]
fn a_disk_that_cannot_be_formatted_leaves_no_line_in_fstab() {
    on_a_server(&[4], |_| {
        let ran = run(&on(BY_ID));
        assert_eq!(ran.item("storage"), ("fail", "a command failed, see above"));
        assert!(ran.errors.contains("size"), "{}", ran.errors);
        assert_eq!(fs::read_to_string("/etc/fstab").unwrap(), "");
    });
}
