#!/usr/bin/env bash
# Installs steelyard and what it needs to count, from the clone of it that has this script.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
if command -v steelyard > /dev/null && command -v valgrind > /dev/null; then exit; fi
bash "$root/scripts/setup.sh" demo
if ! command -v steelyard > /dev/null; then
    cargo install --locked --quiet --path "$root/crates/cli"
fi
