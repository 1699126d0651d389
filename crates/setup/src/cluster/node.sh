#!/bin/sh
# Written by `steelyard setup cluster`. Sets up the machine it runs on, as root, as one of the cluster:
# installs Slurm and munge, and the files next to this one. `node.sh controller` also runs the
# controller here. A file that is there and differs is kept: the new one is put next to it, with
# `.new` at the end of its name.
#
# All machines need the same munge key. One next to this file is installed if the machine has none,
# or only the one that munge's package made: a machine without slurm.conf is in no cluster.
#
# ROOT is put before all paths, and START=no starts nothing, for tests.
set -eu
cd "$(dirname "$0")"
root=${ROOT:-}
kept=0

# put FILE PLACE MODE
put() {
    if [ ! -e "$2" ]; then
        install -D -m "$3" "$1" "$2"
        echo "$2: installed"
    elif ! cmp -s "$1" "$2"; then
        install -m "$3" "$1" "$2.new"
        echo "$2: kept; what it would be is in $2.new"
        kept=1
    fi
}

own=$root/etc/munge/munge.key
if [ -e munge.key ] && [ ! -s munge.key ]; then
    echo "the munge key next to this file is empty; the controller's could not be read" >&2
    exit 1
fi
if [ -e munge.key ] && [ ! -e "$root/etc/slurm/slurm.conf" ]; then
    if [ -e "$own" ] && ! cmp -s munge.key "$own"; then
        mv "$own" "$own.before"
        echo "$own: replaced; the old one is in $own.before"
    fi
    # Before the package is there, so that it makes no other key.
    [ -e "$own" ] || put munge.key "$own" 400
fi

packages=""
# need PROGRAM PACKAGE
need() {
    command -v "$1" > /dev/null || packages="$packages $2"
}
if [ "${START:-yes}" = yes ]; then
    need munged munge
    need slurmd slurmd
    # Elements submit others with it.
    need sbatch slurm-client
    [ "${1:-}" != controller ] || need slurmctld slurmctld
    if [ -n "$packages" ]; then
        apt-get update
        # shellcheck disable=SC2086
        apt-get install -y --no-install-recommends $packages
    fi
fi

put slurm.conf "$root/etc/slurm/slurm.conf" 644
put cgroup.conf "$root/etc/slurm/cgroup.conf" 644
put prolog.sh "$root/etc/slurm/prolog.sh" 755
if [ -e munge.key ]; then
    put munge.key "$root/etc/munge/munge.key" 400
fi
if [ "$kept" = 1 ]; then
    echo "nothing is started: replace each by its .new, or change the file next to this one," \
        "and run this again" >&2
    exit 1
fi
[ "${START:-yes}" = yes ] || exit 0

chown munge: /etc/munge /etc/munge/munge.key
mkdir -p /var/lib/slurm/slurmctld /var/lib/slurm/slurmd /var/log/slurm
chown slurm: /var/lib/slurm/slurmctld /var/log/slurm
systemctl enable munge slurmd
systemctl restart munge
if [ "${1:-}" = controller ]; then
    systemctl enable slurmctld
    systemctl restart slurmctld
fi
systemctl restart slurmd || echo "slurmd does not run here; this machine is not in slurm.conf" >&2
