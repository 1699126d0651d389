#!/usr/bin/env bash
# Makes the crates that `cargo publish` would upload, and compiles the command from them alone:
# without the rest of this repository. `make crates` calls it.
set -euo pipefail
cd "$(dirname "$0")/.."

PATH="${CARGO_HOME:-${HOME:-/root}/.cargo}/bin:$PATH"
built=${CARGO_TARGET_DIR:-$PWD/target}
unpacked=$built/crates
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
wrong() { printf 'crates: %s\n' "$*" >&2; exit 1; }

# The version stands once for the workspace and once for each crate that another one needs.
others=$(grep -E '^[a-z]+ = \{ package = "steelyard-' Cargo.toml | grep -vF "version = \"$version\"" || true)
[ -z "$others" ] || wrong "expected version $version for all crates in Cargo.toml; change these:" "$others"

rm -rf "$built/package" "$unpacked"
mkdir -p "$unpacked"
# It says of each crate that tests stay here.
cargo package --quiet --workspace --exclude bench --exclude testing --exclude validate \
    --no-verify "$@" 2> "$unpacked/log" || { cat "$unpacked/log"; exit 1; }
for file in "$built"/package/*.crate; do
    tar --extract --gzip --directory "$unpacked" --file "$file"
    for license in LICENSE-APACHE LICENSE-MIT; do
        cmp -s "$license" "$unpacked/$(basename "$file" .crate)/$license" ||
            wrong "expected $license in $(basename "$file")"
    done
    printf '%10d  %s\n' "$(stat --format %s "$file")" "$(basename "$file")"
done

{
    printf '[workspace]\nresolver = "3"\nmembers = ["steelyard-%s"]\n[patch.crates-io]\n' "$version"
    for directory in "$unpacked"/steelyard-[a-z]*; do
        name=$(basename "$directory" "-$version")
        printf '%s = { path = "%s" }\n' "$name" "$(basename "$directory")"
    done
} > "$unpacked/Cargo.toml"
cp Cargo.lock "$unpacked/"
CARGO_TARGET_DIR=$built/crates-target cargo build --quiet --manifest-path "$unpacked/Cargo.toml"
program=$built/crates-target/debug/steelyard
"$program" --version

# Its pages are in the crates, too.
printf '{"results":[{"command":"a","mean":1,"times":[1]},{"command":"b","mean":1,"times":[1]}]}' \
    > "$unpacked/both.json"
"$program" import --variant-from command "$unpacked/both.json" --results "$unpacked/results" > /dev/null
"$program" report --results "$unpacked/results" -o "$unpacked/report.html" > /dev/null
"$program" site --results "$unpacked/results" -o "$unpacked/site" > /dev/null
! grep -q 'built without the page' "$unpacked/report.html" || wrong "the report of this build has no page"
[ -s "$unpacked/site/site.js" ] || wrong "the site of this build has no program"
rm -rf "$unpacked"
echo "crates: the command compiles from its packages, in $built/package"
