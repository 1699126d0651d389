//! Creating an instance with `aws`.

use crate::check::shell_word;
use crate::files::CLOUD_INIT;
use crate::request::{Request, Ubuntu};

/// The script.
pub(crate) fn create(request: &Request) -> String {
    let name = shell_word(&request.name);
    let zone = shell_word(request.zone.as_deref().unwrap_or_default());
    let machine = shell_word(request.machine.as_deref().unwrap_or_default());
    let user = shell_word(request.user.as_deref().unwrap_or_default());
    let data_dir = shell_word(&request.data_dir);
    let (release, volume) = match request.ubuntu {
        Ubuntu::Jammy => ("22.04", "ebs-gp2"),
        Ubuntu::Noble => ("24.04", "ebs-gp3"),
    };
    let cores = if request.is_metal() {
        "# A machine without a hypervisor shows all threads; setup.sh turns SMT off.\n"
    } else {
        r#"# One vCPU per core. Types with one thread per core, such as those with Arm, don't need it.
if [ "$threads" != 1 ]; then
    options+=(--cpu-options "CoreCount=$cores,ThreadsPerCore=1")
fi
"#
    };
    let disk = disk(request);
    let (profile, option) = profile(request);
    let key = request
        .key
        .as_deref()
        .map_or_else(String::new, |key| format!("options+=(--key-name {})\n", shell_word(key)));
    format!(
        r#"#!/usr/bin/env bash
# Creates a server to measure databases on. Written by `steelyard setup`; read it first.
#
#   ./create.sh [OPTION…]     options are passed on to run-instances, such as --security-group-ids
#                             and --subnet-id if the default ones don't let you in with SSH
#
# It costs money from now on, and your quota must allow it. steelyard knows neither prices nor
# quotas; see the console, and: aws service-quotas list-service-quotas --service-code ec2
set -euo pipefail
cd "$(dirname "$0")"

name={name}
zone={zone}
machine={machine}
export AWS_DEFAULT_REGION=${{zone%[a-z]}} AWS_REGION=${{zone%[a-z]}} AWS_PAGER=
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

found=$(aws ec2 describe-instance-types --instance-types "$machine" --output text --query \
    "InstanceTypes[0].[VCpuInfo.DefaultCores, VCpuInfo.DefaultThreadsPerCore,
        contains(ProcessorInfo.SupportedArchitectures, 'arm64')]")
read -r cores threads arm <<< "$found"
echo "$machine: $cores cores, $threads threads per core"
arch=amd64
[ "$arm" != True ] || arch=arm64

options=()
{cores}{key}{option}{profile}
# The service takes 16 KB of user data at most; cloud-init unpacks it.
gzip -9 < {CLOUD_INIT} > "$scratch/user-data"

# The disks are deleted with the instance.
instance=$(aws ec2 run-instances \
    --image-id "resolve:ssm:/aws/service/canonical/ubuntu/server/{release}/stable/current/$arch/hvm/{volume}/ami-id" \
    --instance-type "$machine" \
    --placement "AvailabilityZone=$zone" \
    --block-device-mappings \
    'DeviceName=/dev/sda1,Ebs={{VolumeSize=100,VolumeType=gp3,DeleteOnTermination=true}}' \
{disk}    --tag-specifications "ResourceType=instance,Tags=[{{Key=Name,Value=$name}}]" \
    --user-data "fileb://$scratch/user-data" \
    --query 'Instances[0].InstanceId' --output text \
    ${{options[@]+"${{options[@]}}"}} "$@")
echo "$instance: created"
aws ec2 wait instance-running --instance-ids "$instance"
address=$(aws ec2 describe-instances --instance-ids "$instance" --output text \
    --query 'Reservations[0].Instances[0].PublicDnsName')

cat <<END

Next, in a few minutes:
  scp "\$(command -v steelyard)" ubuntu@$address:
  ssh ubuntu@$address         # {user} owns {data_dir}
  cloud-init status --wait    # there: until it is set up, perhaps with a reboot
  ./steelyard doctor --data-dir {data_dir}

It costs money until you delete it, and its disks with it:
  aws ec2 terminate-instances --region ${{zone%[a-z]}} --instance-ids $instance
END
"#
    )
}

/// The data disk, an argument of the option before it.
fn disk(request: &Request) -> String {
    let Some((kind, size)) = request.new_disk() else { return String::new() };
    let mut parts = vec![format!("VolumeSize={size}"), format!("VolumeType={kind}")];
    parts.extend(request.disk_iops.map(|iops| format!("Iops={iops}")));
    parts.extend(request.disk_throughput.map(|rate| format!("Throughput={rate}")));
    parts.push("DeleteOnTermination=true".to_owned());
    format!("    'DeviceName=/dev/sdf,Ebs={{{}}}' \\\n", parts.join(","))
}

/// Access to a bucket: commands that make an instance profile, and the option that names it.
fn profile(request: &Request) -> (String, String) {
    if let Some(profile) = &request.instance_profile {
        let name = shell_word(&format!("Name={profile}"));
        return (String::new(), format!("options+=(--iam-instance-profile {name})\n"));
    }
    let Some(bucket) = request.bucket_name() else { return Default::default() };
    let commands = format!(
        r#"
# What the instance may do: use this bucket.
profile=steelyard-$name
bucket={bucket}
if ! aws iam get-instance-profile --instance-profile-name "$profile" > /dev/null 2>&1; then
    aws iam create-role --role-name "$profile" --assume-role-policy-document '{{
        "Version": "2012-10-17",
        "Statement": [{{"Effect": "Allow", "Action": "sts:AssumeRole",
            "Principal": {{"Service": "ec2.amazonaws.com"}}}}]}}' > /dev/null
    aws iam put-role-policy --role-name "$profile" --policy-name bucket --policy-document '{{
        "Version": "2012-10-17",
        "Statement": [
            {{"Effect": "Allow", "Action": ["s3:ListBucket", "s3:GetBucketLocation"],
                "Resource": "arn:aws:s3:::'"$bucket"'"}},
            {{"Effect": "Allow", "Action": ["s3:GetObject", "s3:PutObject", "s3:DeleteObject",
                "s3:AbortMultipartUpload", "s3:ListMultipartUploadParts"],
                "Resource": "arn:aws:s3:::'"$bucket"'/*"}}]}}'
    aws iam create-instance-profile --instance-profile-name "$profile" > /dev/null
    aws iam add-role-to-instance-profile --instance-profile-name "$profile" --role-name "$profile"
    aws iam wait instance-profile-exists --instance-profile-name "$profile"
    sleep 15 # EC2 hears of it a few seconds later
fi
options+=(--iam-instance-profile "Name=$profile")
"#,
        bucket = shell_word(bucket)
    );
    (commands, String::new())
}
