//! The script sets up a bare server. A second run changes nothing.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use doctor::State;
use setup::Request;

use crate::world::{on_a_server, run, script, shell, written};

fn request() -> Request {
    Request {
        user: Some("daemon".to_owned()),
        device: Some("/dev/disk/by-id/google-*-db0".to_owned()),
        no_boost: true,
        no_smt: true,
        no_deep_idle: true,
        ..Request::default()
    }
}

/// Findings of doctor that the script sets.
const SET: [&str; 17] = [
    "governor",
    "boost",
    "SMT",
    "transparent huge pages",
    "swappiness",
    "memory overcommit",
    "dirty pages",
    "NUMA balancing",
    "autogroup",
    "filesystem",
    "mount options",
    "readahead",
    "I/O scheduler",
    "device",
    "RemoveIPC",
    "idle states",
    "upgrades",
];

/// Those of them that doctor isn't content with.
fn bad() -> BTreeSet<String> {
    let found = doctor::settings(Path::new("/data"));
    for name in SET {
        assert!(found.iter().any(|it| it.name == name), "{name}");
    }
    let bad = found.iter().filter(|it| SET.contains(&&*it.name) && it.state != State::Ok);
    bad.map(|it| format!("{}: {}", it.name, it.found)).collect()
}

#[test]
fn a_second_run_changes_nothing_and_doctor_is_content() {
    on_a_server(&[400], |_| {
        let before = bad();
        for name in
            ["governor", "boost", "SMT", "transparent", "dirty", "RemoveIPC", "upgrades", "idle"]
        {
            assert!(before.iter().any(|it| it.starts_with(name)), "{name}: {before:?}");
        }
        let clean = written();

        let text = script(request());
        let first = run(&text);
        assert_eq!(first.code, Some(0), "{}\n{}", first.text, first.errors);
        let states = first.states();
        assert_eq!(states[..2], ["ok", "ok"], "packages and perf: {}", first.text);
        assert!(states[2..].iter().all(|state| *state == "changed"), "{}", first.text);
        assert_eq!(
            first.item("storage").1,
            format!("formatted {} with xfs, mounted it at /data", device())
        );
        assert_eq!(bad(), BTreeSet::new());

        let after = written();
        let new: Vec<&str> =
            after.keys().filter(|name| !clean.contains_key(*name)).map(|it| &**it).collect();
        assert_eq!(
            new,
            [
                "etc/security/limits.d/zz-steelyard.conf",
                "etc/sysctl.d/zz-steelyard.conf",
                "etc/systemd/logind.conf.d/steelyard.conf",
                "etc/systemd/system.conf.d/steelyard.conf",
                "etc/systemd/system/apt-daily-upgrade.service.d/steelyard.conf",
                "etc/systemd/system/apt-daily.service.d/steelyard.conf",
                "etc/systemd/system/multi-user.target.wants/steelyard-machine.service",
                "etc/systemd/system/steelyard-machine.service",
                "etc/systemd/user.conf.d/steelyard.conf",
                "usr/local/sbin/steelyard-machine",
            ]
        );
        for (name, is) in &clean {
            assert!(name == "etc/fstab" || after[name].4 == is.4, "{name}");
        }
        let fstab = fs::read_to_string("/etc/fstab").unwrap();
        let uuid = shell("findmnt -no UUID /data");
        assert_eq!(
            fstab.trim(),
            format!("UUID={} /data xfs defaults,discard,noatime,nofail 0 0", uuid.trim())
        );
        assert_eq!(shell("stat -c %U:%G /data"), "daemon:daemon\n");

        let second = run(&text);
        assert_eq!(second.code, Some(0));
        assert!(second.states().iter().all(|state| *state == "ok"), "{}", second.text);
        assert_eq!(second.errors, "");
        assert!(written() == after, "files were written again");
        // As `ssh HOST sudo bash < setup.sh` runs it.
        fs::write("/tmp/setup.sh", &text).unwrap();
        let piped = shell("bash -s < /tmp/setup.sh");
        assert_eq!(piped, second.text);

        a_reboot(&text);
        undone(&text);
        assert_eq!(written().keys().collect::<Vec<_>>(), clean.keys().collect::<Vec<_>>());
    });
}

fn device() -> String {
    shell("readlink -f /dev/disk/by-id/google-bench-db0").trim().to_owned()
}

/// Simulates a reboot: the kernel's settings are lost, fstab mounts the disk, and the unit's
/// program sets the rest.
fn a_reboot(text: &str) {
    shell("umount /data");
    assert_eq!(shell("stat -c %U /data"), "root\n", "nobody writes below a missing disk");
    let thp = "/sys/kernel/mm/transparent_hugepage/enabled";
    fs::write(thp, "[always] madvise never\n").unwrap();
    shell("mount -a");
    let program = shell("sed -n 's/^ExecStart=//p' /etc/systemd/system/steelyard-machine.service");
    assert_eq!(shell(program.trim()), format!("{thp} madvise\n"));
    assert_eq!(bad(), BTreeSet::new());
    assert!(run(text).states().iter().all(|state| *state == "ok"));
    // A disk that was not there at boot.
    shell("umount /data");
    let late = run(text);
    assert_eq!(late.item("storage"), ("changed", "mounted /data as /etc/fstab says"));
}

/// The commands at the top of the script undo it.
fn undone(text: &str) {
    let (_, after) = text.split_once("# To undo it").unwrap();
    let lines = after.lines().skip(1).take_while(|line| line.starts_with("#   "));
    let commands: Vec<&str> = lines.map(|line| line.trim_start_matches('#')).collect();
    assert!(commands.len() > 2);
    shell(&commands.join("\n"));
}

#[test]
fn logins_get_the_limit() {
    on_a_server(&[400], |_| {
        if !shell("cat /etc/pam.d/su || true").contains("pam_limits") {
            return testing::skip("su doesn't set limits here");
        }
        // Fewer, since not every machine of tests may allow more.
        let text = script(request()).replace("NOFILE='65536'", "NOFILE='500'");
        let text = text.replace("hard=524288", "hard=600");
        assert_eq!(run(&text).item("nofile").0, "changed");
        for user in ["daemon", "root"] {
            let limits = shell(&format!("su -s /bin/sh {user} -c 'ulimit -Sn; ulimit -Hn'"));
            assert_eq!(limits, "500\n600\n", "{user}");
        }
        let manager = fs::read_to_string("/etc/systemd/system.conf.d/steelyard.conf").unwrap();
        assert_eq!(manager, "[Manager]\nDefaultLimitNOFILE=500:600\n");
    });
}

#[test]
fn what_fails_is_said_and_the_rest_is_done() {
    on_a_server(&[400], |_| {
        fs::remove_file("/usr/bin/apt-get").unwrap();
        let text = script(Request { user: Some("nobody-here".to_owned()), ..request() });
        let ran = run(&text);
        assert_eq!(ran.code, Some(1));
        let (state, said) = ran.item("packages");
        assert!(
            state == "fail"
                && said.contains("neither Debian nor Ubuntu")
                && said.contains("coreutils"),
            "{said}"
        );
        let (state, said) = ran.item("owner");
        assert_eq!(
            (state, said),
            ("fail", "there is no user nobody-here; add it and run this again")
        );
        for name in ["storage", "nofile", "RemoveIPC", "upgrades", "kernel", "machine"] {
            assert_eq!(ran.item(name).0, "changed", "{name}");
        }
        assert!(ran.errors.ends_with("setup: 2 failed; see above\n"), "{}", ran.errors);
        // What can't be written is no success either, the second time neither.
        shell("mount -t tmpfs -o ro tmpfs /etc/security/limits.d");
        for _ in 0..2 {
            assert_eq!(run(&text).item("nofile"), ("fail", "a command failed, see above"));
        }
        shell("mount -t tmpfs tmpfs /sys/kernel/mm/transparent_hugepage");
        shell("mkdir /sys/kernel/mm/transparent_hugepage/enabled");
        assert_eq!(run(&text).item("machine"), ("fail", "a command failed, see above"));
        let usage = run("set -- --restart\n").code;
        assert_eq!(usage, Some(0));
        fs::write("/tmp/setup.sh", &text).unwrap();
        assert_eq!(shell("bash /tmp/setup.sh --restart 2> /tmp/said || echo $?"), "2\n");
        assert_eq!(
            shell("su -s /bin/sh daemon -c 'bash /tmp/setup.sh' 2>&1 || echo $?"),
            "setup: not root; run it with sudo\n2\n"
        );
    });
}

#[test]
fn a_reboot_is_asked_for_where_one_is_pending() {
    on_a_server(&[400], |_| {
        let text = script(request());
        fs::write("/run/reboot-required", "").unwrap();
        let ran = run(&text);
        assert!(
            ran.text.ends_with("an upgrade asks for a reboot; reboot before you measure\n"),
            "{}",
            ran.text
        );
    });
}
