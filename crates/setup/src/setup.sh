#!/usr/bin/env bash
# Makes this server fit to measure databases on. Written by `steelyard setup`; read it first.
#
#   sudo bash setup.sh [--upgrade] [--reboot]
#
#   --upgrade  also upgrade all installed packages
#   --reboot   reboot at the end if an upgrade asks for it, such as one of the kernel
#
# For each item it prints `ok` (it was so already), `changed`, `skip` (not on this machine) or
# `fail`. A second run changes nothing. The exit code is 1 if an item failed; the others are done
# nevertheless. `steelyard doctor` says why each of them matters.
#
# No disk is formatted that holds anything: a filesystem, partitions, or other data.
#
# To undo it, except packages and the data disk (its line in /etc/fstab), and then reboot:
#   systemctl disable steelyard-machine.service
#   rm -f /etc/sysctl.d/zz-steelyard.conf /etc/security/limits.d/zz-steelyard.conf \
#       /etc/systemd/{system,user,logind}.conf.d/steelyard.conf \
#       /etc/systemd/system/apt-daily{,-upgrade}.service.d/steelyard.conf \
#       /etc/systemd/system/steelyard-machine.service /usr/local/sbin/steelyard-machine
set -euo pipefail

# ---- settings ----------------------------------------------------------------------------------

# Owns the data directory; empty: who called sudo.
OWNER=''
DATA_DIR='/data'
# none; auto: the only empty disk; or a name or pattern, such as '/dev/disk/by-id/google-*-db'.
DEVICE='none'
# xfs or ext4.
FILESYSTEM='xfs'
# Files that a process may have open.
NOFILE='65536'
# yes: the clock never exceeds the nominal one.
NO_BOOST=''
# yes: one thread per core.
NO_SMT=''
# yes: no idle states that take longer than 20 µs to leave.
NO_DEEP_IDLE=''
# As Debian and Ubuntu call them; perf has an item of its own.
PACKAGES='ca-certificates curl git tmux screen xfsprogs nvme-cli numactl fio sysstat valgrind gcc
g++ make ccache bison flex perl meson ninja-build libgflags-dev libsnappy-dev zlib1g-dev
liblz4-dev libzstd-dev libbz2-dev libjemalloc-dev'

# ---- how items are reported --------------------------------------------------------------------

# The filesystem's; by it a later run knows the disk again.
LABEL=steelyard
MOUNT_OPTIONS=defaults,discard,noatime,nofail
failed=0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Each ends its item with a sentence.
ok() { echo "$*"; exit 0; }
changed() { echo "$*"; exit 10; }
skip() { echo "$*"; exit 11; }
refuse() { echo "$*"; exit 12; }

# item NAME FUNCTION: runs it in a subshell, where any failing command ends it.
item() {
    local said code state
    set +e
    said=$(set -e; "$2" < /dev/null)
    code=$?
    set -e
    case $code in
        0) state=ok ;;
        10) state=changed ;;
        11) state=skip ;;
        *) state=fail; failed=$((failed + 1)) ;;
    esac
    [ "$state" != fail ] || [ "$code" = 12 ] || said="${said:+$said; }a command failed, see above"
    printf '%-8s %-10s %s\n' "$state" "$1" "${said//$'\n'/ }"
}

# put FILE MODE < TEXT: writes a file unless it is so already. False if it was. Never in a pipeline,
# where a failure would not end the item.
put() {
    cat > "$scratch/new" || exit
    if cmp -s "$scratch/new" "$1" && [ "$(stat -c %a "$1")" = "$2" ]; then return 1; fi
    install -D -m "$2" "$scratch/new" "$1.new~" || exit
    mv -f "$1.new~" "$1" || exit
}

# Is systemd in charge, so that it must be told?
booted() { [ -d /run/systemd/system ]; }

# ---- packages ----------------------------------------------------------------------------------

installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2> /dev/null)" = installed ]; }

apt_get() { DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=600 "$@" >&2; }

packages() {
    local package missing=()
    command -v apt-get > /dev/null ||
        refuse "this is neither Debian nor Ubuntu; install yourself what it calls these: $PACKAGES"
    for package in $PACKAGES; do
        installed "$package" || missing+=("$package")
    done
    [ ${#missing[@]} -gt 0 ] || ok "all are installed"
    apt_get update
    apt_get install -y --no-install-recommends "${missing[@]}"
    changed "installed ${missing[*]}"
}

# Debian has one package of perf; Ubuntu has one for each kernel, and one that follows the newest.
perf_works() { perf --version > /dev/null 2>&1; }

perf_package() {
    local release package known=()
    if perf_works; then ok "$(perf --version)"; fi
    command -v apt-get > /dev/null || refuse "this is neither Debian nor Ubuntu; install perf"
    release=$(uname -r)
    apt_get update
    for package in linux-perf linux-tools-{common,"$release","${release##*-}"}; do
        [ -z "$(apt-cache show --no-all-versions "$package" 2> /dev/null)" ] || known+=("$package")
    done
    [ ${#known[@]} = 0 ] || apt_get install -y --no-install-recommends "${known[@]}"
    hash -r
    perf_works || skip "there is no package of perf for kernel $release; no profiles here"
    changed "installed ${known[*]}"
}

upgrade() {
    local before after
    command -v apt-get > /dev/null || refuse "this is neither Debian nor Ubuntu"
    before=$(dpkg-query -W)
    apt_get update
    apt_get upgrade -y --with-new-pkgs -o Dpkg::Options::=--force-confdef \
        -o Dpkg::Options::=--force-confold
    after=$(dpkg-query -W)
    [ "$before" != "$after" ] || ok "nothing is newer"
    changed "upgraded all packages"
}

# ---- storage -----------------------------------------------------------------------------------

# Why a device must not be formatted; nothing if it is empty. What can't be read is not empty.
occupied() {
    local found
    [ -b "$1" ] || { echo "not a block device"; return; }
    found=$(lsblk -nro MOUNTPOINT "$1" | xargs) || found="unknown to lsblk"
    [ -z "$found" ] || { echo "in use at $found"; return; }
    [ "$(lsblk -nro NAME "$1" | wc -l)" = 1 ] || { echo "has partitions or volumes"; return; }
    found=$(wipefs --noheadings --output TYPE "$1" | xargs) || found="unknown to wipefs"
    [ -z "$found" ] || { echo "has a signature: $found"; return; }
    [ "$(blockdev --getro "$1")" = 0 ] || { echo "read-only"; return; }
    cmp -s -n 1048576 "$1" /dev/zero || echo "its first MB is not empty"
}

# Is it a filesystem that an earlier run made, and not mounted?
ours() {
    [ "$(blkid -p -s LABEL -o value "$1")" = "$LABEL" ] &&
        [ "$(blkid -p -s TYPE -o value "$1")" = "$FILESYSTEM" ] &&
        [ -z "$(lsblk -nro MOUNTPOINT "$1" | xargs)" ]
}

# The devices that may be meant, by the kernel's names. Several names may lead to the same one; a
# pattern means no partitions.
candidates() {
    local path
    if [ "$DEVICE" = auto ]; then
        lsblk -bdnro PATH,TYPE,SIZE | awk '$2 == "disk" && $3 >= 1073741824 { print $1 }'
    else
        compgen -G "$DEVICE" | while read -r path; do
            if [ "$path" = "$DEVICE" ] || [[ $path != *-part[0-9]* ]]; then readlink -f "$path"; fi
        done | sort -u
    fi
}

# Prints the device to use.
choose() {
    local device why empty=() mine=() others=''
    ! command -v udevadm > /dev/null || udevadm settle --timeout=30 || true
    for device in $(candidates); do
        why=$(occupied "$device")
        if ours "$device"; then
            mine+=("$device")
        elif [ -z "$why" ]; then
            empty+=("$device")
        else
            others="$others; $device: $why"
        fi
    done
    if [ ${#mine[@]} = 1 ]; then
        echo "${mine[0]}"
    elif [ ${#mine[@]} -gt 1 ] || [ ${#empty[@]} -gt 1 ]; then
        refuse "expected one empty disk, found ${mine[*]} ${empty[*]}; name one in DEVICE"
    elif [ ${#empty[@]} = 1 ]; then
        echo "${empty[0]}"
    elif [ -z "$others" ]; then
        refuse "found no disk for $DEVICE; lsblk shows what there is"
    else
        refuse "nothing was formatted: found no empty disk for $DEVICE$others. If you don't need" \
            "what one holds: wipefs -a DEVICE && dd if=/dev/zero of=DEVICE bs=1M count=1"
    fi
}

fstab_lines() {
    awk -v dir="$DATA_DIR" '$1 !~ /^#/ && $2 == dir { n++ } END { print n + 0 }' /etc/fstab
}

# Adds the line for a device that has a filesystem.
add_to_fstab() {
    local uuid type pass=0
    uuid=$(blkid -p -s UUID -o value "$1")
    type=$(blkid -p -s TYPE -o value "$1")
    if [ -z "$uuid" ] || [ -z "$type" ]; then refuse "$1 has no UUID to mount it by"; fi
    [ "$type" != ext4 ] || pass=2
    put /etc/fstab 644 <<END || true
$(cat /etc/fstab)
UUID=$uuid $DATA_DIR $type $MOUNT_OPTIONS 0 $pass
END
    ! booted || systemctl daemon-reload
}

storage() {
    local device source lines how
    touch -a /etc/fstab
    lines=$(fstab_lines)
    [ "$lines" -le 1 ] || refuse "/etc/fstab has $lines lines for $DATA_DIR; leave one"
    if source=$(findmnt -nro SOURCE --mountpoint "$DATA_DIR"); then
        [ "$lines" = 0 ] || ok "$source is mounted at $DATA_DIR, also by /etc/fstab"
        [ -b "$source" ] || skip "$source is mounted at $DATA_DIR and has no device"
        add_to_fstab "$source"
        changed "$source was mounted at $DATA_DIR; now also by /etc/fstab"
    fi
    if [ "$lines" = 1 ]; then
        mkdir -p "$DATA_DIR"
        mount "$DATA_DIR"
        changed "mounted $DATA_DIR as /etc/fstab says"
    fi
    [ "$DEVICE" != none ] || skip "no disk was asked for; $DATA_DIR is a directory"
    [ -z "$(ls -A "$DATA_DIR" 2> /dev/null)" ] ||
        refuse "$DATA_DIR is not empty, and a disk mounted there would hide what it holds"
    command -v "mkfs.$FILESYSTEM" > /dev/null || refuse "there is no mkfs.$FILESYSTEM; see packages"
    device=$(choose) || refuse "$device"
    how="found the disk of an earlier setup, $device,"
    if ! ours "$device"; then
        "mkfs.$FILESYSTEM" -q -L "$LABEL" "$device" >&2
        how="formatted $device with $FILESYSTEM,"
    fi
    add_to_fstab "$device"
    # What is below belongs to root, so that others write nothing there if the disk is missing.
    mkdir -p "$DATA_DIR"
    mount "$DATA_DIR"
    changed "$how mounted it at $DATA_DIR"
}

owner() {
    local user=${OWNER:-${SUDO_USER:-root}}
    id -u "$user" > /dev/null 2>&1 || refuse "there is no user $user; add it and run this again"
    if [ "$DEVICE" != none ] && ! findmnt -n --mountpoint "$DATA_DIR" > /dev/null; then
        refuse "nothing is mounted at $DATA_DIR"
    fi
    mkdir -p "$DATA_DIR"
    [ "$(stat -c %U "$DATA_DIR")" != "$user" ] || ok "$DATA_DIR belongs to $user"
    chown "$user:" "$DATA_DIR"
    changed "$DATA_DIR now belongs to $user"
}

# ---- limits and services -----------------------------------------------------------------------

nofile() {
    local any='' file hard=524288 # that of systemd; lower would take something away
    put /etc/security/limits.d/zz-steelyard.conf 644 <<END && any=yes
* soft nofile $NOFILE
* hard nofile $hard
root soft nofile $NOFILE
root hard nofile $hard
END
    for file in system user; do
        put "/etc/systemd/$file.conf.d/steelyard.conf" 644 <<END && any=yes
[Manager]
DefaultLimitNOFILE=$NOFILE:$hard
END
    done
    [ -n "$any" ] || ok "$NOFILE open files for logins and services"
    ! booted || systemctl daemon-reexec
    changed "$NOFILE open files for logins and services; log in again"
}

remove_ipc() {
    put /etc/systemd/logind.conf.d/steelyard.conf 644 <<END ||
[Login]
RemoveIPC=no
END
        ok "shared memory stays when its user logs out"
    ! booted || systemctl try-restart systemd-logind.service
    changed "shared memory stays when its user logs out"
}

# Upgrades wait while steelyard runs, and come at other times.
upgrades() {
    local any='' unit
    for unit in apt-daily apt-daily-upgrade; do
        put "/etc/systemd/system/$unit.service.d/steelyard.conf" 644 <<'END' && any=yes
[Service]
ExecCondition=/bin/sh -c '! pgrep -x steelyard > /dev/null'
END
    done
    [ -n "$any" ] || ok "upgrades wait while steelyard runs"
    ! booted || systemctl daemon-reload
    changed "upgrades wait while steelyard runs"
}

# ---- the kernel --------------------------------------------------------------------------------

SYSCTL='vm.swappiness = 1
vm.overcommit_memory = 0
vm.dirty_bytes = 1073741824
vm.dirty_background_bytes = 268435456
kernel.numa_balancing = 0
kernel.sched_autogroup_enabled = 0
kernel.perf_event_paranoid = 1
kernel.kptr_restrict = 0'

kernel() {
    local any='' key equals value file
    put /etc/sysctl.d/zz-steelyard.conf 644 <<< "$SYSCTL" && any=yes
    while read -r key equals value; do
        file=/proc/sys/${key//./\/}
        [ -e "$file" ] || continue # a kernel without it
        [ "$(cat "$file")" != "$value" ] || continue
        echo "$value" > "$file"
        any="$any, $key$equals$value"
    done <<< "$SYSCTL"
    [ -n "$any" ] || ok "swapping, dirty pages, NUMA balancing, autogroup, access to perf"
    any=${any#yes}
    changed "${any#, }${any:+; }kept in /etc/sysctl.d/zz-steelyard.conf"
}

# What has no sysctl: a program that sets it, now and at each boot. It prints what it changed and
# fails if something could not be set.
set_value() {
    [ -e "$1" ] || return 0
    case $(cat "$1") in "$2" | *"[$2]"*) return 0 ;; esac
    if echo "$2" > "$1"; then echo "$1 $2"; else bad=1; fi
}

set_machine() {
    local file latency device bad=0
    set_value /sys/kernel/mm/transparent_hugepage/enabled madvise
    for file in /sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor; do
        set_value "$file" performance
    done
    if [ -n "$NO_BOOST" ]; then
        set_value /sys/devices/system/cpu/cpufreq/boost 0
        set_value /sys/devices/system/cpu/intel_pstate/no_turbo 1
    fi
    if [ -n "$NO_SMT" ] && grep -qx on /sys/devices/system/cpu/smt/control 2> /dev/null; then
        set_value /sys/devices/system/cpu/smt/control off
    fi
    for latency in /sys/devices/system/cpu/cpu[0-9]*/cpuidle/state*/latency; do
        if [ -n "$NO_DEEP_IDLE" ] && [ -e "$latency" ] && [ "$(cat "$latency")" -gt 20 ]; then
            set_value "${latency%latency}disable" 1
        fi
    done
    # Of the device with the data, which may be a partition.
    device=$(findmnt -nro MAJ:MIN --mountpoint "$DATA_DIR") || return "$bad"
    device=/sys/dev/block/$device
    [ ! -e "$device/partition" ] || device=$device/..
    if [ -e "$device/queue" ] && [ "$(cat "$device/queue/read_ahead_kb")" -gt 512 ]; then
        set_value "$device/queue/read_ahead_kb" 128
    fi
    if grep -qs '\[bfq\]' "$device/queue/scheduler"; then
        set_value "$device/queue/scheduler" mq-deadline
    fi
    return "$bad"
}

machine() {
    local any='' now after='' clock=', clock'
    local program=/usr/local/sbin/steelyard-machine unit=steelyard-machine.service
    ! command -v systemd-escape > /dev/null || after=$(systemd-escape -p --suffix=mount "$DATA_DIR")
    put "$program" 755 <<END && any=yes
#!/usr/bin/env bash
# Sets what the kernel forgets at a reboot. Written by steelyard setup.
$(declare -p NO_BOOST NO_SMT NO_DEEP_IDLE DATA_DIR)
$(declare -f set_value set_machine)
set_machine
END
    put "/etc/systemd/system/$unit" 644 <<END && any=yes
[Unit]
Description=Huge pages, clock and readahead as measuring wants them (steelyard setup)
After=local-fs.target $after

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=$program

[Install]
WantedBy=multi-user.target
END
    if command -v systemctl > /dev/null &&
        [ "$(systemctl is-enabled "$unit" 2> /dev/null)" != enabled ]; then
        systemctl enable "$unit" >&2
        any=yes
    fi
    if [ -n "$any" ] && booted; then systemctl daemon-reload; fi
    now=$("$program" | sed 's/cpu[0-9][0-9]*/cpu*/' | sort -u | xargs)
    compgen -G '/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor' > /dev/null ||
        clock=' (no clock to set here, as in most virtual machines)'
    [ -n "$any$now" ] || ok "huge pages, readahead$clock"
    changed "${now:+$now; }set at each boot by $unit"
}

# ---- all of it ---------------------------------------------------------------------------------

main() {
    local argument with_upgrade='' with_reboot=''
    for argument in "$@"; do
        case $argument in
            --upgrade) with_upgrade=yes ;;
            --reboot) with_reboot=yes ;;
            *) echo "usage: setup.sh [--upgrade] [--reboot]" >&2; exit 2 ;;
        esac
    done
    [ "$(id -u)" = 0 ] || { echo "setup: not root; run it with sudo" >&2; exit 2; }
    [ -z "$with_upgrade" ] || item upgrade upgrade
    item packages packages
    item perf perf_package
    item storage storage
    item owner owner
    item nofile nofile
    item RemoveIPC remove_ipc
    item upgrades upgrades
    item kernel kernel
    item machine machine
    if [ -e /run/reboot-required ]; then
        if [ -n "$with_reboot" ]; then
            echo "setup: rebooting, since an upgrade asks for it"
            systemctl reboot
        else
            echo "setup: an upgrade asks for a reboot; reboot before you measure"
        fi
    fi
    if [ "$failed" -gt 0 ]; then
        echo "setup: $failed failed; see above" >&2
        exit 1
    fi
}

main "$@"
