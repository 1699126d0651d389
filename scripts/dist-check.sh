#!/usr/bin/env bash
# Tries what `make dist` made, as root. `make dist-check` calls it after scripts/setup.sh dist-check.
#
#   scripts/dist-check.sh deb     the .deb in an empty Debian without compilers: a first verdict, the
#                                 same as an ordinary user, RocksDB; and what its removal leaves
#   scripts/dist-check.sh wheel   the wheel in an empty Python environment
#   scripts/dist-check.sh static  the static program
#   scripts/dist-check.sh arm     both programs for aarch64, in an emulator
#   scripts/dist-check.sh         all of these
set -euo pipefail
cd "$(dirname "$0")/.."
[ "$(id -u)" = 0 ] || { echo "dist-check: only root can make an empty system; run it as root" >&2; exit 2; }
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
work=$(mktemp -d "${TMPDIR:-/var/tmp}/steelyard-dist.XXXXXX")
root=$work/debian

leave() {
    for mount in dev sys proc; do umount --recursive --lazy "$root/$mount" 2> /dev/null || true; done
    rm -rf --one-file-system "$work"
}
trap leave EXIT
# Users other than root work below it.
chmod 755 "$work"
say() { printf '\n== %s\n' "$*"; }
wrong() { printf 'dist-check: %s\n' "$*" >&2; exit 1; }
# expect TEXT FILE: the file contains the text.
expect() { grep -qF -- "$1" "$2" || { cat "$2"; wrong "expected \"$1\" in this"; }; }
inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C "$@"; }
# run FILE COMMAND: a shell command inside, with its output in a file.
run() { inside sh -c "cd /root && $2" > "$work/$1" 2>&1 || { cat "$work/$1"; wrong "this failed: $2"; }; }

# empty ARCHITECTURE DIRECTORY WORD...: this machine's release, with what the .deb depends on. With
# --foreign it is only unpacked.
empty() {
    local release mirror
    release=$(. /etc/os-release; echo "${VERSION_CODENAME:-stable}")
    mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | grep -m 1 debian)
    debootstrap --arch "$1" --variant minbase --include ca-certificates,man-db "${@:3}" \
        "$release" "$2" "$mirror" > "$work/log" 2>&1 || { tail -n 20 "$work/log"; wrong "debootstrap failed"; }
}

# What is in the system, but for what dpkg and man keep about all packages.
files() {
    (cd "$root" && find . -xdev \( -path ./proc -o -path ./sys -o -path ./dev -o -path ./var/lib/dpkg \
        -o -path ./var/log -o -path ./var/cache/man \) -prune -o -print | sort)
}

# try NAME COMMAND...: the program reads an experiment and says of it what this machine's program
# says.
try() {
    local name=$1
    shift
    "$@" --version
    "$@" run --help > /dev/null
    "$@" import "$work/first.steelyard" --results "$work/$name" > /dev/null
    "$@" compare -e 1 --results "$work/$name" > "$work/$name.txt"
    [ -s "$work/compared" ] || cp "$work/$name.txt" "$work/compared"
    diff "$work/compared" "$work/$name.txt" || wrong "$name does not say the same"
    "$@" report -e 1 --results "$work/$name" -o "$work/$name.html" > /dev/null
    expect '"writer":"'"$version" "$work/$name.html"
}

# An experiment to read, where none was run.
experiment() {
    [ ! -e "$work/first.steelyard" ] || return 0
    local results='"times":[1.01,1.02,1.03,1.01,1.03,1.02]'
    printf '{"results":[{"command":"old","mean":1.02,%s},{"command":"new","mean":1.02,%s}]}' \
        "$results" "$results" > "$work/both.json"
    "$1" import --variant-from command "$work/both.json" --results "$work/made" > /dev/null
    "$1" export 1 --results "$work/made" -o "$work/first.steelyard" > /dev/null
}

check_deb() {
    say "an empty Debian"
    empty amd64 "$root"
    for mount in dev sys; do mount --rbind --make-rslave "/$mount" "$root/$mount"; done
    mount -t proc proc "$root/proc"
    # A network that looks into what goes through it has certificates of its own.
    cp -L /etc/resolv.conf "$root/etc/"
    cp -L "${SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt}" "$root/etc/ssl/certs/ca-certificates.crt"
    cp "dist/steelyard_$version-1_amd64.deb" "$root/root/steelyard.deb"
    for tool in gcc cc make git python3; do
        ! inside sh -c "command -v $tool" || wrong "the system is not empty: it has $tool"
    done

    say "installed and removed"
    files > "$work/before"
    inside dpkg --install /root/steelyard.deb > /dev/null
    files > "$work/installed"
    inside dpkg --remove steelyard > /dev/null
    files > "$work/after"
    diff "$work/before" "$work/after" || wrong "the package left this behind"
    comm -13 "$work/before" "$work/installed" > "$work/new"
    echo "$(wc -l < "$work/new") files and directories, none left"
    expect ./usr/bin/steelyard "$work/new"
    expect ./usr/share/bash-completion/completions/steelyard "$work/new"

    say "a first verdict"
    inside dpkg --install /root/steelyard.deb > /dev/null
    run version 'steelyard --version'
    cat "$work/version"
    expect "engines:  yes" "$work/version"
    run man 'man steelyard-run | cat'
    expect "--budget" "$work/man"
    local begin=$SECONDS seconds
    run run 'steelyard run insert -v postgres@16 -v postgres@18 --steps l.i0 --budget 1m'
    seconds=$((SECONDS - begin))
    tail -n 8 "$work/run"
    echo "from nothing to a verdict, downloads included: $seconds s"
    [ "$seconds" -le 120 ] || wrong "expected a verdict within 120 s"
    run compared 'steelyard compare -e 1'
    run export 'steelyard export 1 -o first.steelyard'
    cp "$root/root/first.steelyard" "$work/"

    say "as an ordinary user"
    inside useradd --create-home someone
    run user 'su someone -c "cd && steelyard run insert -v postgres@16 -v postgres@18 --steps l.i0 --rows 20k --blocks 1 --quiet --allow-concurrent"'
    run user-compared 'su someone -c "cd && steelyard compare"'
    expect "l.i0" "$work/user-compared"

    say "RocksDB"
    run rocksdb 'steelyard run kv -v rocksdb@8.11.4 -v rocksdb@10.10.1 --budget 20s --keys 20k --quiet --allow-concurrent'
    run rocksdb-compared 'steelyard compare -e 2 --brief'
    tail -n 5 "$work/rocksdb-compared"

    inside dpkg --purge steelyard > /dev/null
    files > "$work/after"
    say "left by the runs after dpkg --purge, outside of home directories"
    comm -13 "$work/before" "$work/after" | grep -vE '^\./(root|home)/' || true
}

check_wheel() {
    say "the wheel"
    python3 -m venv "$work/venv"
    "$work/venv/bin/pip" -q --disable-pip-version-check install --no-index \
        "dist/steelyard-$version"-*_x86_64.whl
    experiment "$work/venv/bin/steelyard"
    try wheel "$work/venv/bin/steelyard"
    "$work/venv/bin/pip" -q --disable-pip-version-check uninstall --yes steelyard
    [ ! -e "$work/venv/bin/steelyard" ] || wrong "the wheel left its program behind"
}

# unpacked ARCHITECTURE: the static program, unpacked.
unpacked() {
    tar --extract --directory "$work" --file "dist/steelyard-$version-$1-linux-static.tar.gz"
    echo "$work/steelyard-$version-$1-linux-static/steelyard"
}

check_static() {
    say "the static program"
    local program
    program=$(unpacked x86_64)
    experiment "$program"
    try static "$program"
    ! "$program" run kv -v rocksdb@10.10.1 --keys 5k --blocks 1 --allow-concurrent \
        --results "$work/refused-results" > "$work/refused" 2>&1 || wrong "it claims to run RocksDB"
    expect "a static program cannot load" "$work/refused"
}

check_arm() {
    say "aarch64, in an emulator"
    local program
    experiment "$(unpacked x86_64)"
    program=$(unpacked aarch64)
    try arm-static qemu-aarch64-static "$program"
    empty arm64 "$work/arm" --foreign
    dpkg-deb -x "dist/steelyard_$version-1_arm64.deb" "$work/arm"
    try arm qemu-aarch64-static -L "$work/arm" "$work/arm/usr/bin/steelyard"
}

say "sums"
(cd dist && sha256sum --check --quiet SHA256SUMS)
[ $# -gt 0 ] || set -- deb wheel static arm
for part in "$@"; do "check_$part"; done
say "all of it works"
