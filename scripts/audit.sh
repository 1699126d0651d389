#!/usr/bin/env bash
# Checks the crates that steelyard is made of, by the rules in deny.toml: licenses and sources, then
# known vulnerabilities. `make audit` calls it after scripts/setup.sh audit. Where the list of
# vulnerabilities cannot be fetched and there is no earlier copy, it says so and does not fail.
set -euo pipefail
cd "$(dirname "$0")/.."
PATH="${CARGO_HOME:-${HOME:-/root}/.cargo}/bin:$PWD/target/dist-tools/bin:$PATH"

cargo deny --locked check licenses bans sources

lists=${CARGO_HOME:-$HOME/.cargo}/advisory-dbs
if cargo deny --locked fetch db > /dev/null 2>&1; then
    cargo deny --locked --offline check advisories
elif compgen -G "$lists/advisory-db-*" > /dev/null; then
    echo "audit: the list of vulnerabilities could not be fetched; the copy in $lists is older"
    cargo deny --locked --offline check advisories
else
    echo "audit: the list of vulnerabilities could not be fetched: nothing was compared with it"
fi
