#!/usr/bin/env bash
# Installs steelyard and what it needs to count, from the clone of it that has this script.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
if ! command -v steelyard > /dev/null; then
    cargo install --locked --quiet --path "$root/crates/cli"
fi
if ! command -v valgrind > /dev/null; then
    sudo apt-get update -q
    sudo apt-get install -qy valgrind
fi
