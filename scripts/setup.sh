#!/usr/bin/env bash
# Installs the packages that this machine lacks for building, testing, benchmarking or packaging
# steelyard.
#
#   scripts/setup.sh build|demo|test|bench|validate|docs|dist|dist-check|audit
#
# Looks for the tools first and changes nothing if they exist. Packages are installed with apt-get,
# as root or through sudo. If neither is possible, a message names them and the exit code is 2.
set -euo pipefail
cd "$(dirname "$0")/.."

purpose=${1:-build}
case $purpose in
    build | demo | test | bench | validate | docs | dist | dist-check | audit) ;;
    *) echo "usage: scripts/setup.sh build|demo|test|bench|validate|docs|dist|dist-check|audit" >&2; exit 2 ;;
esac

# rustup installs cargo here, and a shell opened earlier does not have it in its PATH yet.
PATH="${CARGO_HOME:-${HOME:-/root}/.cargo}/bin:$PATH"

have() { command -v "$1" > /dev/null 2>&1; }
have_library() { PATH="$PATH:/usr/sbin:/sbin" ldconfig -p | grep -F "$1 " > /dev/null; }
fail() { printf 'setup: %s\n' "$@" >&2; exit 2; }

# at_least FOUND WANTED: compares version numbers such as 1.94.
at_least() { [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]; }

# Runs a command with permission to install: root has it, others may have sudo.
elevate() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif sudo -n true 2> /dev/null || [ -t 0 ]; then
        sudo "$@"
    else
        return 1
    fi
}

apt=(env DEBIAN_FRONTEND=noninteractive apt-get -q) # sudo drops the environment
updated=

# Package lists of a fresh machine are empty or old. They are read once, only if something is
# missing.
update() {
    [ -z "$updated" ] || return 0
    elevate "${apt[@]}" update || return 1
    updated=yes
}

# available PACKAGE: does this system have it? For an unknown one, the answer may be empty, not an
# error.
available() {
    have apt-get || return 1
    update > /dev/null 2>&1 || true
    [ -n "$(apt-cache show --no-all-versions "$1" 2> /dev/null)" ]
}

# install_packages PACKAGE…: installs all of them, or explains why not.
install_packages() {
    [ $# -gt 0 ] || return 0
    if ! have apt-get; then
        fail "these packages are missing (Debian names): $*" \
            "Install them with your system's package manager, then run this again."
    fi
    if [ "$(id -u)" != 0 ] && ! have sudo; then
        fail "these packages are missing: $*" "As root: apt-get install $*"
    fi
    echo "setup: installing $*"
    update || fail "these packages are missing: $*" \
        "The package lists could not be read. As root: apt-get update && apt-get install $*"
    elevate "${apt[@]}" install -y --no-install-recommends "$@" ||
        fail "these packages could not be installed: $*" "As root: apt-get install $*"
}

# ---- what every purpose needs ------------------------------------------------------------------

packages=()
have cc || packages+=(gcc)
# A compiler needs the C library's headers; SQLite and the TLS library are built from C.
if have cc && ! printf '#include <stdlib.h>\n' | cc -E -x c - > /dev/null 2>&1; then
    packages+=(libc6-dev)
fi
have cc || packages+=(libc6-dev)
have make || packages+=(make)
have git || packages+=(git)
[ -e /etc/ssl/certs/ca-certificates.crt ] || [ -e /etc/pki/tls/certs/ca-bundle.crt ] || packages+=(ca-certificates)
if ! have node; then
    packages+=(nodejs npm)
elif ! have npm; then
    packages+=(npm)
fi
install_packages "${packages[@]}"

node_version=$(node --version | tr -d v)
at_least "$node_version" 18 ||
    fail "node $node_version is too old; the report's page is built with 18 or newer (web/package.json)." \
        "Install a newer one (its website has packages for older systems) and run this again."

# ---- Rust --------------------------------------------------------------------------------------

wanted=$(sed -n 's/^rust-version *= *"\(.*\)"/\1/p' Cargo.toml)

rust_version() { cargo --version 2> /dev/null | sed -n 's/^cargo \([0-9][0-9.]*\).*/\1/p'; }

found=$(rust_version || true)
if [ -z "$found" ] || ! at_least "$found" "$wanted"; then
    # Debian 13 and Ubuntu 24.04 have a rustup package. For Debian 12 there is only rustup's own
    # installer, which needs no root and is what a person would run. If it can't be reached, the
    # message below says what to do.
    if ! have rustup; then
        if available rustup; then
            install_packages rustup
        else
            have curl || install_packages curl
            echo "setup: installing rustup with its own installer"
            curl --proto '=https' --tlsv1.2 -sSf --max-time 120 https://sh.rustup.rs 2> /dev/null |
                sh -s -- -y --no-modify-path --profile minimal --default-toolchain none > /dev/null 2>&1 || true
        fi
    fi
    if have rustup; then
        echo "setup: installing the stable Rust toolchain through rustup"
        rustup toolchain install stable --profile minimal --component clippy,rustfmt || true
        rustup default > /dev/null 2>&1 || rustup default stable || true
        hash -r
        found=$(rust_version || true)
    fi
    if [ -z "$found" ] || ! at_least "$found" "$wanted"; then
        if have rustup; then
            how="Run: rustup update stable && rustup default stable"
        else
            how="Install rustup as described at https://rustup.rs (one line, no root needed), then run this again."
        fi
        fail "expected Rust $wanted or newer, found ${found:-none}." "$how"
    fi
fi

# ---- the demonstration ------------------------------------------------------------------------------------------

if [ "$purpose" = demo ]; then
    have valgrind || install_packages valgrind # counts instructions
fi

# ---- tests ------------------------------------------------------------------------------------------------------

# An installation from packages, for the tests of `path:`. The package would create and start its
# own cluster; this prevents that. On a machine that already uses Postgres packages, nothing is
# changed.
install_postgres() {
    [ ! -x /usr/lib/postgresql/15/bin/postgres ] || return 0
    local conf=/etc/postgresql-common/createcluster.conf
    if [ -e "$conf" ] || ! available postgresql-15; then
        echo "setup: no postgresql-15 in /usr/lib/postgresql; tests of path: that need it are skipped"
        return 0
    fi
    install_packages postgresql-common
    elevate cp -p "$conf" "$conf.before-steelyard"
    elevate sh -c "echo 'create_main_cluster = false' >> $conf"
    # Even after a failure, later installations by the user should behave as usual.
    trap 'elevate mv '"$conf.before-steelyard $conf" EXIT
    install_packages postgresql-15
    elevate mv "$conf.before-steelyard" "$conf"
    trap - EXIT
}

# PostgreSQL's source, for the tests that build it: the tarball of the system's own source package.
# A machine's package lists rarely include sources, so this reads its own lists in a temporary
# directory.
fetch_source() {
    local kept=target/sources work file package version
    ! compgen -G "$kept/*.orig.tar.*" > /dev/null || return 0
    if have apt-get; then
        work=$(mktemp -d)
        mkdir -p "$work/parts" "$work/lists/partial" "$work/cache/archives/partial" "$work/fetched"
        # The machine's package repositories have sources too.
        for file in /etc/apt/sources.list.d/*.sources; do
            [ ! -e "$file" ] || sed 's/^Types:.*/Types: deb-src/' "$file" > "$work/parts/${file##*/}"
        done
        for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
            [ ! -e "$file" ] || sed -n 's/^deb /deb-src /p' "$file" > "$work/parts/${file##*/}.list"
        done
        local lists=(-o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$work/parts"
            -o "Dir::State::lists=$work/lists" -o "Dir::Cache=$work/cache" -o APT::Sandbox::User=root)
        # Repositories without sources cause errors, which don't matter if another one has them.
        "${apt[@]}" "${lists[@]}" update > /dev/null 2>&1 || true
        # The newest version may not be on all mirrors yet, or no longer; an older one is as good.
        for package in postgresql-15 postgresql-16 postgresql-14 postgresql-17; do
            for version in $(apt-cache "${lists[@]}" showsrc "$package" 2> /dev/null | sed -n 's/^Version: //p' | sort -rVu); do
                if (cd "$work/fetched" &&
                    "${apt[@]}" "${lists[@]}" --tar-only source "$package=$version" > /dev/null 2>&1); then
                    rm -f "$work"/fetched/*.asc
                    mkdir -p "$kept"
                    mv "$work"/fetched/*.orig.tar.* "$kept/"
                    break 2
                fi
            done
        done
        rm -rf "$work"
    fi
    compgen -G "$kept/*.orig.tar.*" > /dev/null ||
        echo "setup: no source package of PostgreSQL; what builds it fails"
}

# perf, for the tests of profiles. Debian has one package for it, Ubuntu one per kernel.
install_perf() {
    if have perf && perf --version > /dev/null 2>&1; then return 0; fi
    local package
    for package in linux-perf "linux-tools-$(uname -r)"; do
        if available "$package"; then
            install_packages "$package"
            return 0
        fi
    done
    echo "setup: no perf package for this kernel; tests of profiles that need it are skipped"
}

# unpack FOLDER PACKAGE...: unpacks packages without installing them.
unpack() {
    local folder=$1
    shift
    mkdir -p "$folder"
    (cd "$folder" && apt-get -q download "$@" > /dev/null 2>&1 &&
        for package in *.deb; do dpkg-deb -x "$package" . || exit 1; done && rm -f ./*.deb) ||
        echo "setup: $* could not be fetched; the test that needs it is skipped"
}

# cloud-init, whose checker the tests of `steelyard setup` use. It is unpacked, not installed: the
# package would set up the machine it is on at the next boot. Only the libraries that it imports
# are installed.
unpack_cloud_init() {
    local kept=target/cloud-init module missing=()
    [ ! -e $kept/usr/lib/python3/dist-packages/cloudinit ] || return 0
    if ! available cloud-init; then
        echo "setup: no package of cloud-init; the test that needs it is skipped"
        return 0
    fi
    for module in yaml configobj jinja2 jsonpatch jsonschema netifaces oauthlib requests serial; do
        /usr/bin/python3 -c "import $module" 2> /dev/null || missing+=("python3-$module")
    done
    install_packages "${missing[@]}"
    unpack $kept cloud-init
}

# MariaDB with MyRocks for crates/dbms/tests, unpacked where the servers' user can read it, and not
# installed: the package would start a server. scripts/test.sh looks in the same place.
unpack_myrocks() {
    local plugin=lib/mysql/plugin/ha_rocksdb.so kept=target/mariadb library missing=()
    [ "$(id -u)" != 0 ] || kept=/var/cache/steelyard-test/mariadb
    if [ -e /usr/$plugin ] || [ -e $kept/usr/$plugin ]; then return 0; fi
    if ! available mariadb-plugin-rocksdb; then
        echo "setup: no package of MyRocks; the test that needs it is skipped"
        return 0
    fi
    for library in liburing.so.2:liburing2 libpcre2-8.so.0:libpcre2-8-0 libsnappy.so.1:libsnappy1v5 \
        liblz4.so.1:liblz4-1 libzstd.so.1:libzstd1; do
        have_library "${library%:*}" || missing+=("${library#*:}")
    done
    install_packages "${missing[@]}"
    unpack $kept mariadb-server-core mariadb-plugin-rocksdb
}

# A registry of container images and the program that copies into it, for crates/dbms/tests/images.rs.
# They are unpacked where the servers' user can read them, and not installed: the package would start
# the registry.
unpack_registry() {
    local kept=target/registry
    [ "$(id -u)" != 0 ] || kept=/var/cache/steelyard-test/registry
    [ ! -e $kept/usr/bin/skopeo ] || return 0
    if ! available docker-registry || ! available skopeo; then
        echo "setup: no packages of docker-registry and skopeo; the tests of images are skipped"
        return 0
    fi
    unpack $kept docker-registry skopeo libgpgme11 libassuan0
}

# install_in_venv NAME VERSION PACKAGE…: installs packages of Python in target/NAME.
install_in_venv() {
    local name=$1 wanted=$2 venv=target/$1
    shift 2
    [ "$(cat "$venv/version" 2> /dev/null)" != "$wanted" ] || return 0
    have python3 || install_packages python3
    if ! python3 -c 'import ensurepip' 2> /dev/null; then install_packages python3-venv; fi
    echo "setup: installing $name $wanted in $venv"
    rm -rf "$venv"
    mkdir -p target
    if python3 -m venv "$venv" && "$venv/bin/pip" -q --disable-pip-version-check install "$@"; then
        echo "$wanted" > "$venv/version"
    else
        rm -rf "$venv"
        echo "setup: $name could not be installed; what needs it fails or is skipped"
    fi
}

# install_versitygw: compiles it in target/versitygw. Debian 12's Go is too old for it.
install_versitygw() {
    local place=$PWD/target/versitygw/bin
    [ ! -x "$place/versitygw" ] || return 0
    if ! have go; then
        echo "setup: there is no Go, so VersityGW is not compiled; what needs it is skipped"
        return 0
    fi
    echo "setup: compiling VersityGW 1.8.0 in target/versitygw"
    GOBIN=$place go install github.com/versity/versitygw/cmd/versitygw@v1.8.0 > /dev/null 2>&1 ||
        echo "setup: VersityGW could not be compiled; what needs it is skipped"
}

if [ "$purpose" = validate ]; then
    # For builds of PostgreSQL; with ccache, the second of two takes half the time.
    packages=()
    have bzip2 || packages+=(bzip2)
    have xz || packages+=(xz-utils)
    have perl || packages+=(perl)
    have ccache || packages+=(ccache)
    have patchelf || packages+=(patchelf)
    have valgrind || packages+=(valgrind)
    install_packages "${packages[@]}"
    fetch_source
    # Since 17, releases don't include the files generated by these.
    if compgen -G 'target/sources/postgresql-1[789]_*' > /dev/null; then
        packages=()
        have bison || packages+=(bison)
        have flex || packages+=(flex)
        install_packages "${packages[@]}"
    fi
fi

if [ "$purpose" = test ]; then
    if ! cargo clippy --version > /dev/null 2>&1 || ! cargo fmt --version > /dev/null 2>&1; then
        have rustup || fail "cargo clippy and cargo fmt are missing." "Install your system's packages for clippy and rustfmt."
        rustup component add clippy rustfmt
    fi
    # Without windows, the pages' tests take 0.7 of the CPU time.
    if [ -z "${CHROMIUM:-}" ] && ! have chromium-headless-shell; then
        if available chromium-headless-shell; then
            install_packages chromium-headless-shell
        elif ! have chromium && ! have chromium-browser && ! have google-chrome; then
            install_packages chromium
        fi
    fi
    have valgrind || install_packages valgrind # for instruction counts, crates/probe/tests/callgrind
    # sysbench's statements are ours (crates/drive/tests); all of these are run as loads of others.
    packages=()
    have sysbench || packages+=(sysbench)
    have fio || packages+=(fio)
    have db_bench || packages+=(rocksdb-tools)
    have hyperfine || packages+=(hyperfine)
    # `ip`: servers in network namespaces of their own, crates/dbms/tests/transport.rs.
    have ip || [ -x /usr/sbin/ip ] || packages+=(iproute2)
    # Libraries that released servers of MySQL and MariaDB need; newer systems have only libaio1t64,
    # whose library has another name.
    have_library libnuma.so.1 || packages+=(libnuma1)
    have_library libaio.so.1 || ! available libaio1 || packages+=(libaio1)
    # For crates/cli/tests/command/fleet.rs. Their services need a configuration, and don't start.
    have sbatch || packages+=(slurm-client)
    [ -x /usr/sbin/slurmctld ] || packages+=(slurmctld)
    [ -x /usr/sbin/slurmd ] || packages+=(slurmd)
    [ -x /usr/sbin/munged ] || packages+=(munge)
    # For crates/setup/tests: they check scripts and format disks of their own.
    have shellcheck || packages+=(shellcheck)
    [ -x /usr/sbin/mkfs.xfs ] || packages+=(xfsprogs)
    install_packages "${packages[@]}"
    unpack_cloud_init
    unpack_myrocks
    unpack_registry
    install_postgres
    install_perf
    # A server that speaks like Amazon S3, for the tests of push and pull. Only what its S3 needs: all
    # of moto takes three times as long.
    install_in_venv moto 5.2.5 'moto[s3]==5.2.5' flask flask-cors
    # Another, which keeps objects as files, for the fleet.
    install_versitygw
    # Sends a service what its OpenAPI document allows and what it forbids.
    install_in_venv schemathesis 4.32.5 'schemathesis==4.32.5'
fi

# Makes a site of the documentation: scripts/docs/conf.py.
if [ "$purpose" = test ] || [ "$purpose" = docs ]; then
    install_in_venv sphinx '9.0.4 with myst-parser 5.2.0 and furo 2025.12.19' \
        'sphinx==9.0.4' 'myst-parser==5.2.0' 'furo==2025.12.19'
fi

# ---- benchmarks --------------------------------------------------------------------------------

if [ "$purpose" = bench ]; then
    if [ ! -x /usr/lib/postgresql/15/bin/pgbench ] && ! have pgbench; then install_postgres; fi
    if [ ! -x /usr/lib/postgresql/15/bin/pgbench ] && ! have pgbench; then
        fail "pgbench is missing; install your system's PostgreSQL server package (Debian: postgresql-15)."
    fi
    packages=()
    have sysbench || packages+=(sysbench)
    have db_bench || packages+=(rocksdb-tools)
    install_packages "${packages[@]}"
fi

# ---- packages ----------------------------------------------------------------------------------

tools=target/dist-tools

# cargo_tool NAME VERSION: compiles a tool of cargo's into target/dist-tools/bin.
cargo_tool() {
    if "$tools/bin/$1" --version 2> /dev/null | grep -qwF "$2"; then return 0; fi
    echo "setup: compiling $1 $2"
    CARGO_TARGET_DIR=$tools/target cargo install --quiet --locked --force --root "$tools" "$1@$2" ||
        fail "$1 $2 could not be compiled." "Look at the messages above."
    rm -rf "$tools/target"
}

# python_tools REQUIREMENT...: installs them into target/dist-tools/venv.
python_tools() {
    [ "$(cat "$tools/venv/requirements" 2> /dev/null)" != "$*" ] || return 0
    have python3 || install_packages python3
    if ! python3 -c 'import ensurepip' 2> /dev/null; then install_packages python3-venv; fi
    echo "setup: installing $*"
    rm -rf "$tools/venv"
    mkdir -p "$tools"
    python3 -m venv "$tools/venv" &&
        "$tools/venv/bin/pip" -q --disable-pip-version-check install "$@" ||
        fail "these Python packages could not be installed: $*" "Check the network."
    echo "$*" > "$tools/venv/requirements"
}

# Every version is fixed: another compiler of C would make other files.
if [ "$purpose" = dist ]; then
    python_tools ziglang==0.17.1 cargo-zigbuild==0.24.1 maturin==1.16.0
    targets=({x86_64,aarch64}-unknown-linux-{gnu,musl})
    for target in "${targets[@]}"; do
        [ -d "$(rustc --print sysroot)/lib/rustlib/$target" ] && continue
        have rustup || fail "Rust's standard library for $target is missing." \
            "Install it, or Rust through rustup (https://rustup.rs), then run this again."
        rustup target add "$target"
    done
    cargo_tool cargo-deb 3.8.0
    cargo_tool cargo-cyclonedx 0.5.9
fi

if [ "$purpose" = audit ]; then cargo_tool cargo-deny 0.20.2; fi

if [ "$purpose" = dist-check ]; then
    packages=()
    have debootstrap || [ -x /usr/sbin/debootstrap ] || packages+=(debootstrap)
    have qemu-aarch64-static || packages+=(qemu-user-static)
    have buildah || packages+=(buildah)
    install_packages "${packages[@]}"
fi
