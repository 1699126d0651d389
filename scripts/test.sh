#!/usr/bin/env bash
# Runs the tests.
#
#   scripts/test.sh            all but those in scripts/long: what `make test` runs
#   scripts/test.sh long       those in scripts/long: what `make long` runs
#   scripts/test.sh check      formatting, lints and unit tests: what `make check` runs
#   scripts/test.sh jobs FILE  the jobs of a file: lines with a name and a command without quotes
#
# Jobs run in parallel; a failed job does not stop the others, and one that does not come to its end
# has failed. At the end come a table of times, the slowest tests, every skipped test with its
# reason, and the line "N passed, N failed, N skipped".
#
# STEELYARD_SKIPS names a file of tests that may be skipped, with lines of "job test reason". Any
# other skip is then a failure. Continuous integration sets it (.ci/run).
set -uo pipefail
cd "$(dirname "$0")/.."

purpose=${1:-test}
work=$(mktemp -d "${TMPDIR:-/var/tmp}/steelyard-test.XXXXXX")
trap 'rm -rf "$work"' EXIT
# The servers' user must be able to reach data directories below.
chmod 755 "$work"
mkdir "$work/jobs" "$work/t"
chmod 1777 "$work/t"
# ext4 looks for an inode near the directory's, and passes all that were deleted within minutes.
# What is made in a top-level directory lies far apart instead. A server has a thousand files:
# making them takes a seventh of the time.
chattr +T "$work/t" 2> /dev/null
export TMPDIR=$work/t

if [ -z "${CHROMIUM:-}" ]; then
    for browser in chromium-headless-shell chromium chromium-browser google-chrome; do
        if command -v "$browser" > /dev/null 2>&1; then
            CHROMIUM=$(command -v "$browser")
            break
        fi
    done
fi
export CHROMIUM=${CHROMIUM:-/usr/bin/chromium} work purpose longs=$PWD/scripts/long

# MariaDB with MyRocks as scripts/setup.sh unpacks it; otherwise the installed one.
for myrocks in "$PWD/target/mariadb/usr" /var/cache/steelyard-test/mariadb/usr; do
    if [ -e "$myrocks/lib/mysql/plugin/ha_rocksdb.so" ]; then
        export DBMS_TEST_MYROCKS=${DBMS_TEST_MYROCKS:-$myrocks}
    fi
done

# clippy-driver is rustc with lints. Using it as the compiler for the workspace's crates avoids
# compiling everything a second time just for the lints.
export RUSTC_WORKSPACE_WRAPPER=clippy-driver

# What incremental compilation keeps for later costs a fifth more in a clean clone, and saves little
# after a change: most of the time goes to the crates and test programs that depend on it.
export CARGO_INCREMENTAL=0

# Property tests draw the same inputs at every run, so that only a change can break them. `make
# validate` draws new ones.
export PROPTEST_RNG_SEED=${PROPTEST_RNG_SEED:-20261124}

# ---- jobs: each writes to its own log ----------------------------------------------------------

# job NAME COMMAND...: runs the command and keeps its output, its status, its seconds and those of
# CPU that it took.
job() {
    local name=$1 begin=$SECONDS status TIMEFORMAT='%0U %0S'
    shift
    { time "$@" > "$work/jobs/$name.log" 2>&1 < /dev/null; } 2> "$work/jobs/$name.cpu"
    status=$?
    echo "$status $((SECONDS - begin)) $(cat "$work/jobs/$name.cpu")" > "$work/jobs/$name.end"
    [ "$status" = 0 ] && status=ok || status=FAILED
    printf '== %s: %s (%d s)\n' "$name" "$status" $((SECONDS - begin))
}

# Ends a program that hangs, so that its log is shown: libtest has named the test by then.
export limit='timeout --kill-after 10 1800'

# tests NAME DIRECTORY PROGRAM: runs the tests of a program that this purpose has. libtest reports
# the time of each test only if unstable options are allowed.
tests() {
    local long choice=()
    mapfile -t long < <(sed -n "s/^$1 //p" "$longs")
    case $purpose in
        long) choice=(--exact "${long[@]}") ;;
        test) [ ${#long[@]} = 0 ] || choice=(--exact "${long[@]/#/--skip=}") ;;
    esac
    cd "$2" || return 1
    # cargo would set the first variable.
    CARGO_MANIFEST_DIR=$2 STEELYARD_SKIPPED=$work/jobs/$1.skipped RUSTC_BOOTSTRAP=1 \
        $limit "$3" -Z unstable-options --report-time "${choice[@]}" || return
    # libtest ignores a name that no test has.
    [ "$purpose" != long ] || grep -qx "running ${#long[@]} tests\?" "$work/jobs/$1.log" ||
        { echo "expected ${#long[@]} tests as scripts/long names them"; return 1; }
}

doc_tests() { $limit cargo test --locked --workspace --doc --no-fail-fast; }

in_web() { (cd web && $limit "$@"); }

# The command on real servers. Every plotted step has to last a few seconds.
small_run() {
    target/debug/steelyard run insert -v postgres@13.7 -v postgres@14.3 --quiet --allow-concurrent \
        --rows 200k --indexed-rows 20k --seconds 6 --blocks 2 --steps l.i0,l.x,l.i1,l.i2,qr100 \
        --profile --profile-seconds 4 \
        --results "$work/results" --data-dir "$TMPDIR/data" || return 1
    target/debug/steelyard report --results "$work/results" -o "$work/report.html" || return 1
    in_web npm run --silent test:browser -- "$work/report.html" || return 1
    target/debug/steelyard site --results "$work/results" -o "$work/site" || return 1
    in_web node openapi/conform.mjs "$work/site" || return 1
    in_web npm run --silent test:site -- "$work/site"
}

# A service, and runs that are followed in a browser, stopped and resumed.
live_runs() {
    mkdir "$TMPDIR/live" || return 1
    in_web npm run --silent test:live -- "$PWD/target/debug/steelyard" "$TMPDIR/live"
}

export -f job tests doc_tests in_web small_run live_runs

# compile ARGUMENTS...: compiles what `cargo test` would run, with lints. Writes the test programs,
# one per line: job, directory, path.
compile() {
    cargo test --locked --workspace --no-run --message-format json-render-diagnostics "$@" \
        > "$work/artifacts" || return 1
    grep -E '"profile":\{[^}]*"test":true.*"executable":"' "$work/artifacts" > "$work/built"
    sed -nE 's|.*"manifest_path":"([^"]*)/crates/([^"/]*)/Cargo.toml".*"kind":\["([a-z]*)"\].*"name":"([^"]*)".*"executable":"([^"]*)".*|\2-\4-\3 \1/crates/\2 \5|p' \
        "$work/built" > "$work/programs"
    [ -s "$work/programs" ] && [ "$(wc -l < "$work/programs")" = "$(wc -l < "$work/built")" ]
}

lints() { ! grep -E '^(warning|error)' "$work/jobs/compile.log"; }

# Stable rustfmt does not check the width of comments.
comments() {
    ! grep -rnE --include='*.rs' '^ *//[/!]? [^ |]' crates |
        LC_ALL=C.UTF-8 grep -E '^[^:]*:[0-9]+:.{101}' | grep -v http
}

touch "$work/programs"
first=()
if [ "$purpose" != jobs ]; then
    first=(fmt comments compile lints)
    job fmt cargo fmt --all --check
    job comments comments
    if [ "$purpose" = check ]; then
        job compile compile --lib --bins
    else
        job compile compile
    fi
    job lints lints
fi

# Those that wait for servers first; those that compute fill the gaps.
waiting='^(cli-command|dbms-dbms|dbms-room|drive-room|lab-room)-'
{
    # A chain that takes as long as all the rest.
    [ "$purpose" != test ] || echo 'page-of-a-run small_run'
    case $purpose in
        jobs) cat "$2" ;;
        long) sed -nE 's/^([a-z][^ ]*) .*/^\1 /p' "$longs" | sort -u | grep -f - "$work/programs" ;;
        *) grep -E "$waiting" "$work/programs" ;;
    esac
    if [ "$purpose" = test ]; then
        echo 'page-in-a-browser in_web npm run --silent test:browser'
        echo 'site-in-a-browser in_web npm run --silent test:site'
        echo 'runs-in-a-browser live_runs'
        echo 'doc-tests doc_tests'
    fi
    if [ "$purpose" = test ] || [ "$purpose" = check ]; then
        echo 'page-check in_web npm run --silent check'
        echo 'page-functions in_web npm test --silent'
        echo 'docs make --silent docs'
        grep -vE "$waiting" "$work/programs"
    fi
} | sed -E 's|^([^ ]+) (/[^ ]+) (/[^ ]+)$|\1 tests \1 \2 \3|' > "$work/list"
# Tests mostly wait, for servers and for seconds of load, so run more of them than there are CPUs.
export RUST_TEST_THREADS=${RUST_TEST_THREADS:-6}
# The outer shell lives on if the job's is killed; otherwise xargs would start no others.
xargs -P 5 -I {} bash -c 'bash -c "$1"; :' bash 'job {}' < "$work/list"

# ---- results -----------------------------------------------------------------------------------

passed=0
failed=0
skipped=0
broken=()
cat "$work"/jobs/*.skipped > "$work/skipped" 2> /dev/null
for end in "$work"/jobs/*.end; do
    name=$(basename "$end" .end)
    log=$work/jobs/$name.log
    read -r status _ < "$end"
    # The numbers of single tests, if it has any; otherwise the job counts as one.
    read -r good bad < <(awk '/^test result:/ { n++; for (i = 2; i <= NF; i++) { if ($i == "passed;") p += $(i-1); if ($i == "failed;") f += $(i-1) } }
        END { print (n ? p : -1), f + 0 }' "$log")
    if [ "$good" = -1 ]; then good=$((status == 0)); fi
    if [ "$status" != 0 ] && [ "$bad" = 0 ]; then bad=1; fi
    if [ "$status" != 0 ]; then
        broken+=("$name")
        printf '\n---- %s\n' "$name"
        cat "$log"
    fi
    if [ -e "$work/jobs/$name.skipped" ]; then
        sort -u -k1,1 -t "$(printf '\t')" "$work/jobs/$name.skipped" | sed "s/^/$name\t/" >> "$work/all-skipped"
        few=$(cut -f1 "$work/jobs/$name.skipped" | sort -u | wc -l)
        good=$((good - few))
        skipped=$((skipped + few))
    fi
    passed=$((passed + good))
    failed=$((failed + bad))
done

while read -r name; do
    if [ ! -e "$work/jobs/$name.end" ]; then
        broken+=("$name: it did not come to its end; was its shell killed?")
        failed=$((failed + 1))
    fi
done < <(printf '%s\n' "${first[@]}" | sed '/^$/d'; cut -d ' ' -f 1 "$work/list")

printf '\nseconds  user  system  job\n'
for end in "$work"/jobs/*.end; do
    read -r _ seconds user system < "$end"
    printf '%7d %5d %7d  %s\n' "$seconds" "$user" "$system" "$(basename "$end" .end)"
done | sort -rn | head -n 12
printf '\nseconds  the slowest tests\n'
sed -nE 's/^test (.*) \.\.\. .*<([0-9.]+)s>$/\2  \1/p' "$work"/jobs/*.log | sort -rn | head -n 10 |
    awk '{ printf "%7.1f  %s\n", $1, $2 }'

if [ -s "$work/all-skipped" ]; then
    printf '\nskipped: job, test, reason\n'
    sort "$work/all-skipped" | tee "$work/skipped"
    if [ -n "${STEELYARD_SKIPS:-}" ]; then
        while IFS=$'\t' read -r name test _; do
            if ! grep -qE "^$name[[:space:]]+$test([[:space:]]|$)" "$STEELYARD_SKIPS"; then
                broken+=("$name: $test was skipped and is not in $STEELYARD_SKIPS")
                failed=$((failed + 1))
                skipped=$((skipped - 1))
            fi
        done < "$work/skipped"
    fi
fi

printf '\n'
[ "$purpose" != test ] || echo "$(grep -c '^[a-z]' "$longs") longer tests are left to make long"
[ ${#broken[@]} = 0 ] || printf 'failed: %s\n' "${broken[@]}"
printf '%d passed, %d failed, %d skipped in %d s\n' "$passed" "$failed" "$skipped" "$SECONDS"
[ "$failed" = 0 ] && [ ${#broken[@]} = 0 ]
