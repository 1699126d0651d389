#!/usr/bin/env bash
# Makes the packages in dist/: archives with static programs, .deb packages, wheels, lists of what
# they contain, and SHA256SUMS. `make dist` calls it after scripts/setup.sh dist.
#
# The same commit gives the same bytes, wherever the clone and the caches are: paths are mapped,
# times are the commit's, and the tools have fixed versions. Only Rust is the installed one.
set -euo pipefail
cd "$(dirname "$0")/.."

PATH="${CARGO_HOME:-${HOME:-/root}/.cargo}/bin:$PATH"
PATH="$PWD/target/dist-tools/venv/bin:$PWD/target/dist-tools/bin:$PATH"
built=${CARGO_TARGET_DIR:-target}
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
# The C library that the .deb and the wheels need, at least.
glibc=2.28

SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
STEELYARD_COMMIT=$(git describe --always --dirty --abbrev=12 --exclude '*')
export SOURCE_DATE_EPOCH STEELYARD_COMMIT CARGO_INCREMENTAL=0

cargo_home=${CARGO_HOME:-$HOME/.cargo}
export RUSTFLAGS="--remap-path-prefix=$PWD=/steelyard --remap-path-prefix=$cargo_home=/cargo"
export CFLAGS="-ffile-prefix-map=$PWD=/steelyard -ffile-prefix-map=$cargo_home=/cargo"

rm -rf dist
mkdir -p dist/stage/man

# ---- programs ----------------------------------------------------------------------------------

# The wheels come with the programs that the .deb packages hold, too.
for arch in x86_64 aarch64; do
    echo "== $arch, for glibc $glibc or newer, and its wheel"
    maturin build --quiet --locked --zig --profile dist --target "$arch-unknown-linux-gnu" \
        --compatibility "manylinux_${glibc/./_}" --manifest-path crates/cli/Cargo.toml --out dist
    echo "== $arch, static"
    cargo zigbuild --quiet --locked --profile dist --target "$arch-unknown-linux-musl" -p steelyard
done

# ---- what goes with them -----------------------------------------------------------------------

# Only this machine's processor can run one of the programs; the pages are the same for all.
program=$built/$(uname -m)-unknown-linux-musl/dist/steelyard
"$program" generate man dist/stage/man
"$program" generate completions bash > dist/stage/steelyard.bash
"$program" generate completions zsh > dist/stage/_steelyard
"$program" generate completions fish > dist/stage/steelyard.fish
node scripts/dist/notices.mjs > dist/stage/copyright

# It writes a file for each crate.
cargo cyclonedx --quiet --format json --spec-version 1.5 --target x86_64-unknown-linux-gnu \
    --manifest-path crates/cli/Cargo.toml --override-filename sbom
node scripts/dist/sbom.mjs crates/cli/sbom.json > "dist/steelyard-$version.cdx.json"
rm crates/*/sbom.json

# ---- packages ----------------------------------------------------------------------------------

for arch in x86_64 aarch64; do
    cargo deb --quiet --locked --no-build --no-strip --profile dist -p steelyard \
        --target "$arch-unknown-linux-gnu" --output dist/

    name=steelyard-$version-$arch-linux-static
    mkdir "dist/stage/$name"
    cp "$built/$arch-unknown-linux-musl/dist/steelyard" docs/install.md CHANGELOG.md "dist/stage/$name/"
    cp -r dist/stage/{man,steelyard.bash,_steelyard,steelyard.fish,copyright} plans "dist/stage/$name/"
    tar --create --directory dist/stage --sort name --owner 0 --group 0 --numeric-owner \
        --mode go=rX,u+rw,a-s --mtime "@$SOURCE_DATE_EPOCH" "$name" | gzip --no-name --best > "dist/$name.tar.gz"
done
rm -r dist/stage

(cd dist && sha256sum -- * > SHA256SUMS)
largest=30000000
for file in dist/*; do
    size=$(stat --format %s "$file")
    printf '%10d  %s\n' "$size" "$file"
    [ "$size" -le "$largest" ] || { echo "dist: $file is larger than $largest bytes" >&2; exit 1; }
done
