//! The texts for all requests, checked by shellcheck, bash and cloud-init.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use proptest::prelude::*;
use setup::{Cloud, Cluster, Error, Filesystem, Request, Setup, Ubuntu};

/// The machine that the seed's author uses, and others that differ in what is written.
fn requests() -> Vec<Request> {
    let of = |cloud, machine: &str, zone: &str| Request {
        cloud,
        machine: Some(machine.to_owned()),
        zone: Some(zone.to_owned()),
        user: Some("mark".to_owned()),
        ..Request::default()
    };
    let gcp = of(Cloud::Gcp, "c2-standard-60", "us-west1-b");
    let aws = of(Cloud::Aws, "c7i.16xlarge", "us-west-2b");
    let bucket = Some("my-results".to_owned());
    vec![
        Request::default(),
        Request {
            no_boost: true,
            no_smt: true,
            filesystem: Filesystem::Ext4,
            ..Request::default()
        },
        Request { bucket: bucket.clone(), disk_size: Some(3_000), ..gcp.clone() },
        Request {
            machine: Some("c4a-standard-8".to_owned()),
            ubuntu: Ubuntu::Jammy,
            ..gcp.clone()
        },
        Request { disk: Some("none".to_owned()), user: None, ..gcp },
        Request { bucket, key: Some("My key".replace(' ', "-")), ..aws.clone() },
        Request { machine: Some("c7g.metal".to_owned()), ubuntu: Ubuntu::Jammy, ..aws.clone() },
        Request {
            disk: Some("io2".to_owned()),
            disk_iops: Some(50_000),
            user: None,
            instance_profile: Some("bench".to_owned()),
            packages: vec!["g++-13".to_owned(), "default-jdk".to_owned()],
            ..aws
        },
    ]
}

/// All scripts of a request.
fn scripts(request: &Request) -> Vec<String> {
    let setup = Setup::new(request.clone()).unwrap();
    std::iter::once(setup.script()).chain(setup.create()).collect()
}

#[test]
fn shellcheck_has_nothing_to_say() {
    let directory = tempfile::tempdir().unwrap();
    let mut files = vec![
        PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/src/setup.sh")),
        PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/setup/world.sh")),
    ];
    let cluster = Cluster::new("head", "NodeName=n1 CPUs=2", "bench", "/opt/steelyard").unwrap();
    let cluster = cluster.files().into_iter().filter(|file| file.runs).map(|file| file.text);
    for (number, text) in requests().iter().flat_map(scripts).chain(cluster).enumerate() {
        let file = directory.path().join(format!("{number}.sh"));
        fs::write(&file, text).unwrap();
        files.push(file);
    }
    let Ok(ended) = Command::new("shellcheck").args(&files).output() else {
        return testing::skip("shellcheck is not installed");
    };
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stdout));
}

/// cloud-init as scripts/setup.sh unpacks it, which is not installed.
fn cloud_init() -> Option<Command> {
    let unpacked = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/cloud-init"));
    let modules = unpacked.join("usr/lib/python3/dist-packages");
    let mut command = Command::new("/usr/bin/python3");
    command.env("PYTHONPATH", &modules).args(["-m", "cloudinit.cmd.main"]);
    modules.join("cloudinit").exists().then_some(command)
}

#[test]
fn cloud_init_accepts_its_file() {
    let directory = tempfile::tempdir().unwrap();
    let check = |text: &str| -> Option<String> {
        let file = directory.path().join("cloud-init.yaml");
        fs::write(&file, text).unwrap();
        let ended = cloud_init()?.args(["schema", "--config-file"]).arg(&file).output().unwrap();
        let said = [ended.stdout, ended.stderr].concat();
        Some(format!("{} {}", ended.status.success(), String::from_utf8_lossy(&said)))
    };
    for request in requests() {
        let text = Setup::new(request).unwrap().cloud_init();
        let Some(said) = check(&text) else {
            return testing::skip("scripts/setup.sh test has not unpacked cloud-init");
        };
        assert!(said.starts_with("true Valid cloud-config"), "{said}\n{text}");
    }
    assert!(check("#cloud-config\nruncmd: 3\n").unwrap().starts_with("false"), "it does check");
}

#[test]
fn users_that_the_image_lacks_are_made() {
    for request in requests() {
        let setup = Setup::new(request).unwrap();
        let made = setup.cloud_init().contains("users:\n  - default\n  - name: \"mark\"");
        let owner = if setup.request().cloud == Cloud::None { None } else { Some("ubuntu") };
        let user = setup.request().user.as_deref();
        assert!(made || user == owner, "{user:?}");
        assert_eq!(setup.cloud_init().contains("users:"), made);
    }
}

#[test]
fn user_data_fits() {
    // EC2 takes 16 KB, as create.sh packs it; Google 256 KB.
    for request in requests() {
        let text = Setup::new(request).unwrap().cloud_init();
        assert!(text.len() < 256 << 10);
        let mut gzip = Command::new("gzip");
        let mut gzip = gzip.arg("-9").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        gzip.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        let packed = gzip.wait_with_output().unwrap().stdout;
        assert!(packed.len() < 12 << 10, "{}", packed.len());
    }
}

/// Runs create.sh with programs of the clouds that write down their arguments, one a line.
fn called(request: Request) -> (Vec<Vec<String>>, String) {
    let directory = tempfile::tempdir().unwrap();
    let here = |name: &str| directory.path().join(name);
    let setup = Setup::new(request).unwrap();
    fs::write(here(setup::CREATE), setup.create().unwrap()).unwrap();
    fs::write(here(setup::CLOUD_INIT), setup.cloud_init()).unwrap();
    let program = r#"#!/usr/bin/env bash
{ printf '%s\n' "${0##*/}" "$@"; echo; } >> "${0%/*}/calls"
case "$*" in
    *describe-instance-types*) printf '32\t2\tFalse\n' ;;
    *get-instance-profile*) exit 254 ;;
    *run-instances*)
        for word in "$@"; do
            case $word in fileb://*) cp "${word#fileb://}" "${0%/*}/user-data" ;; esac
        done
        echo i-0123 ;;
    *serviceAccounts*) echo 1-compute@developer.gserviceaccount.com ;;
    *PublicDnsName*) echo ec2-1-2-3-4.example.com ;;
esac
"#;
    for name in ["gcloud", "aws", "sleep"] {
        fs::write(here(name), program).unwrap();
        assert!(Command::new("chmod").arg("+x").arg(here(name)).status().unwrap().success());
    }
    let path = format!("{}:{}", directory.path().display(), std::env::var("PATH").unwrap());
    let ended = Command::new("bash")
        .arg(here(setup::CREATE))
        .args(["--extra", "a b"])
        .env("PATH", path)
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{errors}");
    if let Ok(packed) = fs::File::open(here("user-data")) {
        let text = Command::new("gzip").arg("-dc").stdin(packed).output().unwrap().stdout;
        assert_eq!(String::from_utf8(text).unwrap(), setup.cloud_init());
    }
    let calls = fs::read_to_string(here("calls")).unwrap();
    let calls = calls.split("\n\n").filter(|call| !call.is_empty());
    let calls = calls.map(|call| call.lines().map(str::to_owned).collect()).collect();
    (calls, String::from_utf8(ended.stdout).unwrap())
}

fn call<'a>(calls: &'a [Vec<String>], word: &str) -> &'a [String] {
    calls.iter().find(|call| call.iter().any(|it| it == word)).unwrap()
}

#[test]
fn gcloud_is_asked_for_whole_cores_and_a_disk_that_goes_with_the_instance() {
    let (calls, said) = called(requests().swap_remove(2));
    assert_eq!(
        call(&calls, "create")[1..],
        [
            "compute",
            "instances",
            "create",
            "bench",
            "--zone=us-west1-b",
            "--machine-type=c2-standard-60",
            "--threads-per-core=1",
            "--image-family=ubuntu-2404-lts-amd64",
            "--image-project=ubuntu-os-cloud",
            "--boot-disk-size=100GB",
            "--create-disk=name=bench-db,device-name=bench-db,type=pd-ssd,size=3000GB,auto-delete=yes",
            "--scopes=cloud-platform",
            "--metadata-from-file=user-data=cloud-init.yaml",
            "--extra",
            "a b",
        ]
    );
    let access = call(&calls, "add-iam-policy-binding");
    assert!(access.contains(&"gs://my-results".to_owned()));
    let member = "--member=serviceAccount:1-compute@developer.gserviceaccount.com";
    assert!(access.contains(&member.to_owned()));
    assert!(said.contains("gcloud compute instances delete --zone=us-west1-b bench"), "{said}");

    let (calls, _) = called(requests().swap_remove(3));
    let arm = call(&calls, "create");
    assert!(arm.contains(&"--image-family=ubuntu-2204-lts-arm64".to_owned()));
    assert!(!arm.iter().any(|word| word.starts_with("--threads-per-core")));
    let (calls, said) = called(requests().swap_remove(4));
    assert!(!call(&calls, "create").iter().any(|word| word.starts_with("--create-disk")));
    assert!(said.contains("ssh --zone=us-west1-b ubuntu@bench"), "{said}");
}

#[test]
fn aws_is_asked_for_whole_cores_and_a_disk_that_goes_with_the_instance() {
    let (calls, said) = called(requests().swap_remove(5));
    let run = call(&calls, "run-instances").join(" ");
    for words in [
        "--image-id resolve:ssm:/aws/service/canonical/ubuntu/server/24.04/stable/current/amd64/hvm/ebs-gp3/ami-id",
        "--instance-type c7i.16xlarge",
        "--placement AvailabilityZone=us-west-2b",
        "--block-device-mappings \
         DeviceName=/dev/sda1,Ebs={VolumeSize=100,VolumeType=gp3,DeleteOnTermination=true} \
         DeviceName=/dev/sdf,Ebs={VolumeSize=1000,VolumeType=gp3,DeleteOnTermination=true}",
        "--cpu-options CoreCount=32,ThreadsPerCore=1",
        "--key-name My-key",
        "--iam-instance-profile Name=steelyard-bench",
        "--extra a b",
    ] {
        assert!(run.contains(words), "{words}\n{run}");
    }
    let policy = call(&calls, "put-role-policy").join(" ");
    assert!(policy.contains("\"arn:aws:s3:::my-results/*\""), "{policy}");
    assert!(
        said.contains("terminate-instances --region us-west-2 --instance-ids i-0123"),
        "{said}"
    );

    let (calls, _) = called(requests().swap_remove(6));
    assert!(!call(&calls, "run-instances").contains(&"--cpu-options".to_owned()), "metal");
    let (calls, said) = called(requests().swap_remove(7));
    let run = call(&calls, "run-instances").join(" ");
    assert!(run.contains("VolumeType=io2,Iops=50000,DeleteOnTermination=true"), "{run}");
    assert!(run.contains("--iam-instance-profile Name=bench"), "{run}");
    assert!(!calls.iter().flatten().any(|word| word == "create-role"));
    assert!(said.contains("ubuntu owns /data"), "{said}");
}

#[test]
fn what_does_not_fit_together_is_refused() {
    let gcp = requests().swap_remove(2);
    let aws = requests().swap_remove(5);
    let some = |text: &str| Some(text.to_owned());
    let cases = [
        (Request { zone: None, ..gcp.clone() }, "--zone is missing"),
        (Request { machine: None, ..gcp.clone() }, "--machine is missing"),
        (Request { key: some("k"), ..gcp.clone() }, "--key is for aws"),
        (Request { no_smt: true, ..gcp.clone() }, "--no-smt is for servers that exist"),
        (Request { bucket: some("s3://results"), ..gcp.clone() }, "--bucket: expected"),
        (Request { disk_size: Some(1), ..gcp.clone() }, "--disk-size: expected 10GB"),
        (Request { device: some("none"), ..gcp.clone() }, "--device none leaves"),
        (Request { disk: some("none"), ..gcp }, "--disk none has no size"),
        (Request { bucket: some("gs://results"), ..aws.clone() }, "--bucket: expected"),
        (Request { cloud: Cloud::None, ..aws }, "--machine is about a new instance"),
        (Request { nofile: 1_024, ..Request::default() }, "--nofile: expected"),
        (Request { nofile: 2_000_000, ..Request::default() }, "--nofile: expected"),
        (Request { data_dir: "/etc".to_owned(), ..Request::default() }, "--dir: expected"),
    ];
    for (request, said) in cases {
        let error = Setup::new(request).unwrap_err().to_string();
        assert!(error.starts_with(said), "{said}: {error}");
    }
}

/// Names with what shells, YAML and people make of names.
fn hostile() -> impl Strategy<Value = String> {
    prop_oneof![
        "[-a-z0-9./]{1,12}",
        "\\PC{0,12}",
        "[a-z]{0,3}[ '\"`$(){};&|<>\\\\\n\t#*?!~:,=%]{1,4}[a-z]{0,8}",
        Just("$(touch injected)".to_owned()),
        Just("a'; touch injected; '".to_owned()),
        Just("a\n  - touch injected".to_owned()),
        Just("`touch injected`".to_owned()),
        Just("${HOME}".to_owned()),
        Just("END\ntouch injected\n".to_owned()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    /// Every value in every place is refused, or the shell sees it as a plain word: the text then
    /// has as many lines as with a plain name.
    #[test]
    fn no_value_gets_out_of_its_place(text in hostile(), place in 0..10_usize, aws in any::<bool>()) {
        let plain = requests().swap_remove(if aws { 5 } else { 2 });
        let with = |text: &str| {
            let (mut request, text) = (plain.clone(), text.to_owned());
            match place {
                0 => request.name = text,
                1 => request.machine = Some(text),
                2 => request.zone = Some(text),
                3 => request.disk = Some(text),
                4 => request.key = Some(text),
                5 => request.bucket = Some(text),
                6 => request.user = Some(text),
                7 => request.data_dir = text,
                8 => request.device = Some(text),
                _ => request.packages = vec![text],
            }
            Setup::new(request)
        };
        match with(&text) {
            Err(Error::Value { found, .. }) => prop_assert_eq!(found, text),
            Err(_) => prop_assert!(text == "none" || place == 4),
            Ok(setup) => {
                for special in [' ', '\'', '"', '`', '$', '(', ';', '&', '|', '<', '>', '\\', '\n', '#'] {
                    prop_assert!(!text.contains(special), "{:?}", text);
                }
                prop_assert!(!text.starts_with('-') && !text.is_empty());
                let lines = setup.cloud_init().lines().count();
                prop_assert!(lines.abs_diff(Setup::new(plain.clone()).unwrap().cloud_init().lines().count()) <= 6);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// An accepted request gives scripts that bash can read, with the requested settings.
    #[test]
    fn bash_reads_what_is_taken(user in "[a-z_][a-z0-9_.-]{0,9}", dir in "/[a-zA-Z0-9_-]{5,12}(/[a-z.]{0,2}[a-z]{1,9})?",
        device in "/dev/[a-z*?:]{1,9}", package in "[a-z0-9][a-z0-9+.-]{1,12}") {
        let request = Request {
            user: Some(user.clone()), data_dir: dir.clone(), device: Some(device.clone()),
            packages: vec![package.clone()], ..requests().swap_remove(5)
        };
        let Ok(setup) = Setup::new(request) else { return Ok(()) };
        for text in [setup.script(), setup.create().unwrap()] {
            let mut bash = Command::new("bash");
            let mut bash = bash.arg("-n").stdin(Stdio::piped()).spawn().unwrap();
            bash.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
            prop_assert!(bash.wait().unwrap().success());
        }
        let text = setup.script();
        let (settings, _) = text.split_once("# ---- how items").unwrap();
        let show = "printf '%s|' \"$OWNER\" \"$DATA_DIR\" \"$DEVICE\" \"${PACKAGES##*$'\\n'}\"";
        let said = Command::new("bash").args(["-c", &format!("{settings}\n{show}")]).output().unwrap();
        prop_assert_eq!(String::from_utf8_lossy(&said.stdout), format!("{user}|{dir}|{device}|{package}|"));
    }
}
