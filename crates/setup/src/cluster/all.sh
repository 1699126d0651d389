#!/bin/sh
# Written by `steelyard setup cluster`. Sets up all machines through ssh, the controller first. The
# others get the munge key that its package makes. Needs a login on each machine that may use sudo
# without a password. A machine that can't be set up stops none of the others.
set -eu
cd "$(dirname "$0")"
head="@HEAD@"
machines="@MACHINES@"
failed=""

# send MACHINE: the files, in a directory that only this login reads.
send() {
    tar -c slurm.conf cgroup.conf prolog.sh node.sh |
        ssh "$1" 'd=$HOME/.steelyard-setup && mkdir -m 700 -p "$d" && tar -x -C "$d"'
}

# key MACHINE: the controller's munge key, next to the files.
key() {
    ssh "$head" sudo cat /etc/munge/munge.key |
        ssh "$1" 'umask 077 && cat > "$HOME/.steelyard-setup/munge.key"'
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
    send "$machine" && key "$machine" && run "$machine" || failed="$failed $machine"
done
ssh "$head" sinfo
if [ -n "$failed" ]; then
    echo "not set up:$failed" >&2
    exit 1
fi
