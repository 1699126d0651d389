//! Creating an instance with `gcloud`.

use crate::check::shell_word;
use crate::files::CLOUD_INIT;
use crate::request::{Request, Ubuntu};

/// Series whose vCPUs are whole cores: they don't take `--threads-per-core`.
const WHOLE_CORES: [&str; 7] = ["t2d", "t2a", "c4a", "n4a", "h3", "h4d", "m4n"];
/// Series with Arm processors.
const ARM: [&str; 3] = ["t2a", "c4a", "n4a"];

/// The script.
pub(crate) fn create(request: &Request) -> String {
    let name = shell_word(&request.name);
    let zone = shell_word(request.zone.as_deref().unwrap_or_default());
    let region = zone.rsplit_once('-').map_or(zone.as_str(), |(region, _)| region);
    let user = shell_word(request.user.as_deref().unwrap_or_default());
    let data_dir = shell_word(&request.data_dir);
    let machine = request.machine.as_deref().unwrap_or_default();
    let mut options =
        vec![format!("--zone={zone}"), format!("--machine-type={}", shell_word(machine))];
    let series = machine.split('-').next().unwrap_or_default();
    if !WHOLE_CORES.contains(&series) && !request.is_metal() {
        options.push("--threads-per-core=1".to_owned());
    }
    options.push(format!("--image-family={}", family(request.ubuntu, ARM.contains(&series))));
    options.push("--image-project=ubuntu-os-cloud".to_owned());
    options.push("--boot-disk-size=100GB".to_owned());
    options.extend(disk(request));
    options.push("--scopes=cloud-platform".to_owned());
    options.push(format!("--metadata-from-file=user-data={CLOUD_INIT}"));
    let options = options.join(" \\\n    ");
    let bucket = request.bucket_name().map(bucket).unwrap_or_default();
    format!(
        r#"#!/usr/bin/env bash
# Creates a server to measure databases on. Written by `steelyard setup`; read it first.
#
#   ./create.sh [OPTION…]     options are passed on, such as --project=NAME or --network=NAME
#
# It costs money from now on, and your quota must allow it. steelyard knows neither prices nor
# quotas; see the console, and: gcloud compute regions describe {region}
set -euo pipefail
cd "$(dirname "$0")"

name={name}
zone={zone}

# One vCPU per core; the data disk is deleted with the instance; full access to the cloud's APIs, so
# to storage, as far as the service account's roles allow it.
gcloud compute instances create "$name" \
    {options} \
    "$@"
{bucket}
cat <<END

Next, in a few minutes:
  gcloud compute scp --zone=$zone "\$(command -v steelyard)" {user}@$name:
  gcloud compute ssh --zone=$zone {user}@$name
  cloud-init status --wait    # there: until it is set up, perhaps with a reboot
  ./steelyard doctor --data-dir {data_dir}

It costs money until you delete it, and its disks with it:
  gcloud compute instances delete --zone=$zone $name
END
"#
    )
}

fn family(ubuntu: Ubuntu, arm: bool) -> &'static str {
    match (ubuntu, arm) {
        (Ubuntu::Jammy, false) => "ubuntu-2204-lts",
        (Ubuntu::Jammy, true) => "ubuntu-2204-lts-arm64",
        (Ubuntu::Noble, false) => "ubuntu-2404-lts-amd64",
        (Ubuntu::Noble, true) => "ubuntu-2404-lts-arm64",
    }
}

/// The option for the data disk.
fn disk(request: &Request) -> Option<String> {
    let (kind, size) = request.new_disk()?;
    let disk = format!("{}-db", request.name);
    let mut parts = vec![
        format!("name={disk}"),
        format!("device-name={disk}"),
        format!("type={kind}"),
        format!("size={size}GB"),
        "auto-delete=yes".to_owned(),
    ];
    parts.extend(request.disk_iops.map(|iops| format!("provisioned-iops={iops}")));
    parts.extend(request.disk_throughput.map(|rate| format!("provisioned-throughput={rate}")));
    Some(shell_word(&format!("--create-disk={}", parts.join(","))))
}

/// Access of the instance's account to a bucket.
fn bucket(name: &str) -> String {
    let bucket = shell_word(&format!("gs://{name}"));
    format!(
        r#"
account=$(gcloud compute instances describe "$name" --zone="$zone" \
    --format='value(serviceAccounts[0].email)')
gcloud storage buckets add-iam-policy-binding {bucket} \
    --member="serviceAccount:$account" --role=roles/storage.objectAdmin > /dev/null
"#
    )
}
