#!/usr/bin/env bash
# Tries what `make dist` made, as root. `make dist-check` calls it after scripts/setup.sh dist-check.
#
#   scripts/dist-check.sh deb     the .deb in an empty Debian without compilers: a first verdict, the
#                                 same as an ordinary user, RocksDB; and what its removal leaves
#   scripts/dist-check.sh image   the container image of Containerfile: a run, a count, perf
#   scripts/dist-check.sh wheel   the wheel in an empty Python environment
#   scripts/dist-check.sh static  the static program
#   scripts/dist-check.sh arm     both programs for aarch64, in an emulator, where they also run and
#                                 count; and the tests of the crates that need no server
#   scripts/dist-check.sh         all of these
set -euo pipefail
cd "$(dirname "$0")/.."
[ "$(id -u)" = 0 ] || { echo "dist-check: only root can make an empty system; run it as root" >&2; exit 2; }
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
work=$(mktemp -d "${TMPDIR:-/var/tmp}/steelyard-dist.XXXXXX")
root=$work/debian

leave() {
    for mount in "$root"/{dev,sys,proc} "$work"/arm/{dev,sys,proc}; do
        umount --recursive --lazy "$mount" 2> /dev/null || true
    done
    [ ! -e "$work/emulates" ] || echo -1 > /proc/sys/fs/binfmt_misc/steelyard-aarch64 || true
    [ ! -e "$work/images" ] || boxes rm --all > /dev/null 2>&1 || true
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

# empty ARCHITECTURE DIRECTORY: this machine's release, with what the .deb depends on.
empty() {
    local release mirror
    release=$(. /etc/os-release; echo "${VERSION_CODENAME:-stable}")
    mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | grep -m 1 debian)
    debootstrap --arch "$1" --variant minbase --include ca-certificates,man-db \
        "$release" "$2" "$mirror" > "$work/log" 2>&1 || { tail -n 20 "$work/log"; wrong "debootstrap failed"; }
    # A network that looks into what goes through it has certificates of its own.
    cp -L "${SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt}" "$2/etc/ssl/certs/ca-certificates.crt"
    cp -L /etc/resolv.conf "$2/etc/"
    # Before 15, PostgreSQL's statistics need the name; without, each look at them takes 10 s.
    echo "127.0.0.1 localhost" > "$2/etc/hosts"
}

# enter DIRECTORY: `inside` and `run` mean this system from now on.
enter() {
    root=$1
    for mount in dev sys; do mount --rbind --make-rslave "/$mount" "$root/$mount"; done
    mount -t proc proc "$root/proc"
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

# What docs/start.md begins with.
first=$(sed -n 's/^\(steelyard run .*\)/\1/p' docs/start.md | head -n 1)

# decided FILE SECONDS: this output of a run has six restarts at least, and took so long with its
# downloads. On a busy machine, the verdict may be that the budget was too small.
decided() {
    grep -E 'every comparison was decided|^budget-spent|the run ended after' "$1" || true
    grep -m 1 '^l\.i0  pg18' "$1"
    ! grep -q 'too few' "$1" || { cat "$1"; wrong "expected six restarts"; }
    echo "from nothing to this, downloads included: $2 s"
    [ "$2" -le 120 ] || wrong "expected it within 120 s"
}

check_deb() {
    say "an empty Debian"
    empty amd64 "$root"
    enter "$root"
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
    local begin=$SECONDS
    run run "$first"
    decided "$work/run" $((SECONDS - begin))
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

# boxes WORD...: buildah with images of its own, without namespaces, which containers may lack.
boxes() {
    STORAGE_DRIVER=vfs BUILDAH_ISOLATION=chroot buildah --root "$work/images" --runroot "$work/boxes" "$@"
}

check_image() {
    say "the container image"
    local box begin
    empty amd64 "$work/base"
    box=$(boxes from scratch)
    boxes add --quiet "$box" "$work/base" / > /dev/null
    boxes commit --quiet "$box" localhost/base > /dev/null
    boxes build --quiet --build-arg BASE=localhost/base --file Containerfile --tag localhost/steelyard \
        dist > "$work/log" 2>&1 || { tail -n 20 "$work/log"; wrong "the image could not be built"; }
    boxes images --format '{{.Name}} {{.Size}}'
    box=$(boxes from localhost/steelyard)
    begin=$SECONDS
    boxes run "$box" -- sh -c "$first" > "$work/boxed" 2>&1 || { cat "$work/boxed"; wrong "the run failed"; }
    decided "$work/boxed" $((SECONDS - begin))
    boxes run "$box" -- steelyard count --plan-of 1 --kinds insert-100 --protocols simple --brief \
        > "$work/counted" 2>&1 || { cat "$work/counted"; wrong "counting failed"; }
    tail -n 8 "$work/counted"
    boxes run "$box" -- perf --version
    # Its libraries are in the image.
    boxes run "$box" -- steelyard run insert -v mysql@8.0.31 --steps l.i0 --rows 10k --blocks 1 --quiet \
        > "$work/log" 2>&1 || { cat "$work/log"; wrong "MySQL does not run"; }
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

# emulate: the kernel starts programs for aarch64 in the emulator, also inside of a system.
emulate() {
    local formats=/proc/sys/fs/binfmt_misc
    if [ -e $formats/qemu-aarch64 ] || [ -e $formats/steelyard-aarch64 ]; then return 0; fi
    [ -e $formats/register ] || mount -t binfmt_misc none $formats ||
        wrong "expected binfmt_misc, by which the kernel starts an emulator"
    # The first bytes of a program for aarch64: ELF, 64 bits, little-endian; type, but for one bit;
    # machine 0xb7.
    printf '%s' ':steelyard-aarch64:M::\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00:\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff:'"$(command -v qemu-aarch64-static):F" \
        > $formats/register
    touch "$work/emulates"
}

check_arm() {
    say "aarch64, in an emulator"
    local program
    experiment "$(unpacked x86_64)"
    program=$(unpacked aarch64)
    try arm-static qemu-aarch64-static "$program"

    say "an empty Debian for aarch64"
    emulate
    empty arm64 "$work/arm"
    enter "$work/arm"
    cp "dist/steelyard_$version-1_arm64.deb" "$root/root/steelyard.deb"
    inside dpkg --install /root/steelyard.deb > /dev/null
    try arm qemu-aarch64-static -L "$root" "$root/usr/bin/steelyard"

    say "runs and counts on aarch64"
    local small='--blocks 1 --quiet --allow-concurrent'
    run arm-run "steelyard run insert -v postgres@16 -v postgres@18 --steps l.i0,qr100 --rows 20k --seconds 2 $small"
    run arm-kv "steelyard run kv -v rocksdb@8.11.4 -v rocksdb@10.10.1 --keys 20k --seconds 1 $small"
    inside sh -c 'apt-get -qq update && apt-get -qq install --yes --no-install-recommends valgrind' \
        > "$work/log" 2>&1 || { tail -n 20 "$work/log"; wrong "valgrind could not be installed"; }
    run arm-count 'steelyard count --plan-of 1 --kinds insert-100 --protocols simple --statements 6 --brief --allow-concurrent'
    tail -n 12 "$work/arm-count"
    expect no-calls "$work/arm-count"
    ! inside steelyard count --plan-of 2 --results /root/steelyard-results --allow-concurrent \
        > "$work/refused" 2>&1 || wrong "it claims to count RocksDB on aarch64"
    expect "can't be counted on this processor" "$work/refused"

    say "tests of the crates that need no server, on aarch64"
    local crates=()
    for crate in foreign metrics plan reference script suspect trace; do crates+=(-p "steelyard-$crate"); done
    PATH="$PWD/target/dist-tools/venv/bin:$PATH" RUST_BACKTRACE=0 PROPTEST_CASES=16 \
        CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_RUNNER=qemu-aarch64-static \
        cargo-zigbuild test --quiet --locked --target aarch64-unknown-linux-musl --lib --tests "${crates[@]}" \
        > "$work/log" 2>&1 || { tail -n 40 "$work/log"; wrong "tests fail on aarch64"; }
    grep -h '^test result' "$work/log" | awk '{ passed += $4; failed += $6 } END { print passed " passed, " failed " failed" }'
}

say "sums"
(cd dist && sha256sum --check --quiet SHA256SUMS)
[ $# -gt 0 ] || set -- deb image wheel static arm
for part in "$@"; do "check_$part"; done
say "all of it works"
