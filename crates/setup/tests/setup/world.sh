#!/usr/bin/env bash
# world.sh DIRECTORY DEVICE:DEVICE… COMMAND…: runs a command as if on a server of its own.
#
# In a mount namespace of its own (unshare --mount): the machine's files below an overlay, its own
# /dev with no other disks, and copies instead of /proc/sys and the files of /sys that setup.sh
# writes. They say what a bare server says. So nothing that is written reaches the machine, except
# the devices. What was written to the overlay is in /run/written. Exits with 77 if the machine
# doesn't allow all that.
set -Eeuo pipefail
trap 'exit 77' ERR
work=$1
IFS=: read -ra devices <<< "$2"
shift 2

mount -t tmpfs tmpfs "$work"
mkdir "$work"/{upper,layer,root}
mount -t overlay overlay -o "lowerdir=/,upperdir=$work/upper,workdir=$work/layer" "$work/root"
root=$work/root

mount --rbind /proc "$root/proc"
mkdir "$work/sysctl"
(cd /proc/sys && cp -r --parents vm kernel fs/file-max fs/nr_open "$work/sysctl") 2> /dev/null || true
mount --bind "$work/sysctl" "$root/proc/sys"
for value in vm/swappiness=60 vm/overcommit_memory=2 vm/dirty_bytes=0 vm/dirty_background_bytes=0 \
    vm/dirty_ratio=100 kernel/numa_balancing=1 kernel/sched_autogroup_enabled=1 \
    kernel/perf_event_paranoid=4 kernel/kptr_restrict=1; do
    rm -f "$root/proc/sys/${value%=*}"
    echo "${value#*=}" > "$root/proc/sys/${value%=*}"
done

mount --rbind /sys "$root/sys"
# pretend DIRECTORY FILE=TEXT…: files instead of those of the kernel.
pretend() {
    local directory=$root/sys/$1 file
    shift
    mount -t tmpfs tmpfs "$directory"
    for file in "$@"; do
        mkdir -p "$(dirname "$directory/$file")"
        echo "${file#*=}" > "$directory/${file%%=*}"
    done
}
pretend kernel/mm/transparent_hugepage 'enabled=[always] madvise never' 'defrag=madvise'
pretend devices/system/cpu online=0-1 smt/control=on smt/active=1 cpufreq/boost=1 \
    cpu0/cpufreq/scaling_governor=powersave cpu1/cpufreq/scaling_governor=powersave \
    cpu0/cpuidle/state0/{name=POLL,latency=0,disable=0} \
    cpu0/cpuidle/state1/{name=C6,latency=133,disable=0}
for device in "${devices[@]}"; do
    pretend "devices/virtual/block/${device##*/}/queue" read_ahead_kb=8192 \
        'scheduler=mq-deadline [bfq] none' discard_max_bytes=4294966784
done

mount -t tmpfs tmpfs "$root/dev"
cp -a /dev/{null,zero,full,random,urandom} "${devices[@]}" "$root/dev"
mkdir -p "$root"/dev/{disk/by-id,shm}
for number in "${!devices[@]}"; do
    ln -s "../../${devices[number]##*/}" "$root/dev/disk/by-id/google-bench-db$number"
done
mount -t tmpfs tmpfs "$root/run"
mount -t tmpfs tmpfs "$root/tmp"
mkdir -p "$root"/run/{systemd/system,written,lock}
mount --bind "$work/upper" "$root/run/written"
# The command may be on another filesystem than /.
mkdir "$root/run/command"
mount --bind "$(dirname "$1")" "$root/run/command"

mkdir -p "$root/etc/apt/apt.conf.d"
echo 'APT::Periodic::Unattended-Upgrade "1";' > "$root/etc/apt/apt.conf.d/20auto-upgrades"
: > "$root/etc/fstab"
# Nothing is installed in tests.
[ -x /usr/bin/perf ] || install /bin/true "$root/usr/bin/perf"
# systemd must look as if it ran, for doctor and setup.sh, but hear nothing.
export SYSTEMD_OFFLINE=1
command=/run/command/${1##*/}
shift
exec chroot "$root" "$command" "$@"
