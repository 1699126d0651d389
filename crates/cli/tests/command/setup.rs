//! `steelyard setup`: which files it writes, and what it refuses. The crate's own tests check their
//! contents.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use crate::place::Place;

const GCP: [&str; 8] =
    ["--cloud", "gcp", "--machine", "c2-standard-60", "--zone", "us-west1-b", "--user", "mark"];

#[test]
fn files_are_written_once() {
    let place = Place::new();
    let directory = place.path().join("new/bench");
    let arguments = [&["setup"], &GCP[..], &["-o", directory.to_str().unwrap()]].concat();
    let ended = place.steelyard(&arguments);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.stdout.contains("create.sh: creates the instance, which costs money"));
    for (name, part, mode) in [
        ("setup.sh", "script", 0o755),
        ("create.sh", "create", 0o755),
        ("cloud-init.yaml", "cloud-init", 0o644),
    ] {
        let file = directory.join(name);
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, mode, "{name}");
        let printed = place.steelyard(&[&["setup", part], &GCP[..]].concat());
        assert_eq!(fs::read_to_string(&file).unwrap(), printed.stdout, "{name}");
    }
    fs::remove_file(directory.join("create.sh")).unwrap();
    let again = place.steelyard(&arguments);
    assert_eq!(again.code, Some(2));
    assert!(again.stderr.contains("cloud-init.yaml exists; name another directory"));
    assert!(!directory.join("create.sh").exists(), "all or nothing");
}

#[test]
fn a_wrong_request_is_explained_and_nothing_is_written() {
    let place = Place::new();
    let refused = |arguments: &[&str], said: &str| {
        let ended = place.steelyard(&[&["setup"], arguments].concat());
        assert_eq!(ended.code, Some(2), "{}", ended.stderr);
        assert!(ended.stderr.contains(said), "{}", ended.stderr);
        assert_eq!(ended.stdout, "");
    };
    refused(&[], "<PART>");
    refused(&["create"], "nothing to create: add --cloud gcp or --cloud aws");
    refused(&["create", "--cloud", "aws"], "--machine is missing");
    refused(&["script", "--user", "a; reboot"], "--user: expected");
    refused(&["script", "--disk-size", "big"], "expected a size such as 3000GB or 3TB");
    refused(&["script", "--disk-size", "4294967296"], "expected a size");
    refused(&["script", "--dir", "/"], "--dir: expected a directory such as /data");
    refused(&["-o", "out", "--machine", "c2-standard-8"], "--machine is about a new instance");
    assert!(!place.path().join("out").exists());
    let file = place.path().join("file");
    fs::write(&file, "").unwrap();
    let ended = place.steelyard(&["setup", "-o", file.to_str().unwrap()]);
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    assert!(ended.stderr.contains("cannot write to"), "{}", ended.stderr);
}

#[test]
fn on_gcp_the_caller_owns_the_data_unless_that_is_root() {
    let place = Place::new();
    let owner = |given: &[&str], variables: &[(&str, &str)]| {
        let mut command = place.command(&[&["setup", "script"], &GCP[..6], given].concat());
        command.env_remove("USER").env_remove("SUDO_USER").envs(variables.iter().copied());
        let ended = place.spawn(command).end();
        ended.expect(0, &[]);
        let owner = ended.stdout.lines().find_map(|line| line.strip_prefix("OWNER="));
        owner.unwrap().trim_matches('\'').to_owned()
    };
    let sudo = [("USER", "root"), ("SUDO_USER", "mark")];
    assert_eq!(owner(&[], &[("USER", "mark"), ("SUDO_USER", "admin")]), "mark");
    assert_eq!(owner(&[], &sudo), "mark");
    assert_eq!(owner(&[], &[("USER", "root")]), "ubuntu");
    assert_eq!(owner(&[], &[]), "ubuntu");
    assert_eq!(owner(&["--user", "ann"], &sudo), "ann");
}

#[test]
fn sizes_have_units() {
    let place = Place::new();
    for (size, gigabytes) in
        [("3TB", "3000GB"), ("3000", "3000GB"), ("500gb", "500GB"), ("2T", "2000GB")]
    {
        let ended =
            place.steelyard(&[&["setup", "create", "--disk-size", size], &GCP[..]].concat());
        assert!(ended.stdout.contains(&format!(",size={gigabytes},")), "{size}: {}", ended.stderr);
    }
}

#[test]
fn a_cluster_keeps_what_is_there() {
    let place = Place::new();
    let (nodes, cluster) = (place.path().join("nodes.txt"), place.path().join("cluster"));
    fs::write(&nodes, "NodeName=n1 CPUs=2 RealMemory=1000\nUpTime=1-00:00:00\n").unwrap();
    let words = ["setup", "cluster", "--controller", "head", "--nodes", nodes.to_str().unwrap()];
    let ended = place.steelyard(&words);
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    assert!(ended.stderr.contains("-o DIR"), "{}", ended.stderr);
    let ended = place.steelyard(&[&words[..], &["-o", cluster.to_str().unwrap()]].concat());
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.stdout.contains("node.sh: sets up the machine it runs on"), "{}", ended.stdout);
    fs::write(cluster.join("munge.key"), "key").unwrap();
    let root = place.path().join("root");
    let node = || {
        let mut command = Command::new("sh");
        command.arg(cluster.join("node.sh")).env("ROOT", &root).env("START", "no");
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    // Made by a package, on a machine that is in no cluster.
    let own = root.join("etc/munge/munge.key");
    fs::create_dir_all(own.parent().unwrap()).unwrap();
    fs::write(&own, "a package's").unwrap();
    let (code, said) = node();
    assert_eq!((code, said.lines().count()), (Some(0), 5), "{said}");
    assert!(said.contains("munge.key: replaced"), "{said}");
    assert_eq!(fs::read_to_string(&own).unwrap(), "key");
    assert_eq!(fs::read_to_string(own.with_extension("key.before")).unwrap(), "a package's");
    let key = fs::metadata(root.join("etc/munge/munge.key")).unwrap();
    assert_eq!(key.permissions().mode() & 0o777, 0o400);
    assert_eq!(node(), (Some(0), String::new()), "nothing changes");
    fs::write(&own, "that of a cluster").unwrap();
    assert_eq!(node().0, Some(1), "its key is kept");
    fs::write(&own, "key").unwrap();
    let conf = root.join("etc/slurm/slurm.conf");
    fs::write(&conf, "ClusterName=ours\n").unwrap();
    let (code, said) = node();
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("slurm.conf: kept"), "{said}");
    assert_eq!(fs::read_to_string(&conf).unwrap(), "ClusterName=ours\n");
    let new = fs::read_to_string(root.join("etc/slurm/slurm.conf.new")).unwrap();
    assert!(new.contains("NodeName=n1 CPUs=2 RealMemory=1000 State=UNKNOWN\n"), "{new}");
}
