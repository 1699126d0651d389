#!/usr/bin/env bash
# Everything that `make test` checks. A stage that fails does not keep the later ones from running. The last line is
# "N passed, N failed", counting single tests, and each stage without tests of its own as one.
set -uo pipefail
cd "$(dirname "$0")/.."

work=$(mktemp -d "${TMPDIR:-/tmp}/steelyard-test.XXXXXX")
trap 'rm -rf "$work"' EXIT
# The servers' user must get through to data directories below.
chmod 755 "$work"

passed=0
failed=0
broken=()

# stage NAME COMMAND…: runs it, shows its output, counts it as one.
stage() {
    local name=$1 begin=$SECONDS
    shift
    printf '\n== %s\n' "$name"
    if "$@" < /dev/null; then
        passed=$((passed + 1))
        printf '== %s: ok (%d s)\n' "$name" $((SECONDS - begin))
    else
        failed=$((failed + 1))
        broken+=("$name")
        printf '== %s: FAILED (%d s)\n' "$name" $((SECONDS - begin))
    fi
}

# cargo test, its own result lines added up instead of counted as one.
cargo_test() {
    local log=$work/cargo-test.log status sums
    printf '\n== cargo test\n'
    cargo test --locked --workspace --no-fail-fast < /dev/null 2>&1 | tee "$log"
    status=${PIPESTATUS[0]}
    sums=$(awk '/^test result:/ { for (i = 2; i <= NF; i++) { if ($i == "passed;") p += $(i-1); if ($i == "failed;") f += $(i-1) } }
        END { print p + 0, f + 0 }' "$log")
    passed=$((passed + ${sums% *}))
    failed=$((failed + ${sums#* }))
    if [ "$status" != 0 ]; then
        broken+=("cargo test")
        # Something that did not compile has no result line.
        [ "${sums#* }" != 0 ] || failed=$((failed + 1))
    fi
}

# The command on real servers. Every step that is plotted has to last some seconds.
small_run() {
    cargo build --locked -q -p steelyard || return 1
    target/debug/steelyard run insert -v postgres@13.7 -v postgres@14.3 --quiet --allow-concurrent \
        --rows 400k --indexed-rows 20k --seconds 4 --blocks 2 --steps l.i0,l.x,l.i1,l.i2,qr100 \
        --profile --profile-seconds 1 \
        --results "$work/results" --data-dir "$work/data" || return 1
    target/debug/steelyard report --results "$work/results" -o "$work/report.html"
}

in_web() { (cd web && "$@"); }

if [ -z "${CHROMIUM:-}" ]; then
    for browser in chromium chromium-browser google-chrome; do
        if command -v "$browser" > /dev/null 2>&1; then
            CHROMIUM=$(command -v "$browser")
            break
        fi
    done
fi
export CHROMIUM=${CHROMIUM:-/usr/bin/chromium}

stage "cargo fmt --check" cargo fmt --all --check
stage "cargo clippy" cargo clippy --locked -q --workspace --all-targets -- -D warnings
cargo_test
stage "types of the page" in_web npm run --silent check
stage "functions of the page" in_web npm test --silent
stage "the page in a browser, made-up results" in_web npm run --silent test:browser
stage "a small run on real servers" small_run
stage "the page in a browser, that run's report" in_web npm run --silent test:browser -- "$work/report.html"

printf '\n'
[ ${#broken[@]} = 0 ] || printf 'failed: %s\n' "${broken[@]}"
printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" = 0 ] && [ ${#broken[@]} = 0 ]
