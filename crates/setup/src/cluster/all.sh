#!/bin/sh
# Written by `steelyard setup cluster`. Sets up all machines through ssh, the controller first. The
# others get the munge key that its package makes. Needs a login on each machine that may use sudo
# without a password.
set -eu
cd "$(dirname "$0")"
head="@HEAD@"
machines="@MACHINES@"

# send MACHINE: the files, in a directory that only this login reads.
send() {
    tar -c slurm.conf cgroup.conf prolog.sh node.sh |
        ssh "$1" 'd=$HOME/.steelyard-setup && mkdir -m 700 -p "$d" && tar -x -C "$d"'
}

# run MACHINE [controller]: node.sh, and removes the files.
run() {
    echo "d=\$HOME/.steelyard-setup; sudo sh \"\$d/node.sh\" ${2:-}; r=\$?; rm -r \"\$d\"; exit \$r" |
        ssh "$1" sh
}

echo "== $head"
send "$head"
run "$head" controller
for machine in $machines; do
    [ "$machine" != "$head" ] || continue
    echo "== $machine"
    send "$machine"
    ssh "$head" sudo cat /etc/munge/munge.key |
        ssh "$machine" 'umask 077 && cat > "$HOME/.steelyard-setup/munge.key"'
    run "$machine"
done
ssh "$head" sinfo
