#!/usr/bin/env bash
# The checklist of a release: what has to hold, then what a person does.
#
#   scripts/release.sh            all checks, which take hours; goes on after one that fails
#   scripts/release.sh CHECK...   only these: state changelog audit docs test long crates dist again
#                                 dist-check
set -uo pipefail
cd "$(dirname "$0")/.." || exit
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)

# What is released is this commit.
check_state() {
    local changes
    changes=$(git status --short)
    [ -z "$changes" ] || { printf 'expected no uncommitted files, found\n%s\n' "$changes"; return 1; }
    ! git rev-parse --quiet --verify "refs/tags/v$version" > /dev/null ||
        { echo "v$version is released; set the next version in Cargo.toml"; return 1; }
}

check_changelog() {
    local heading
    heading=$(grep -m 1 '^## ' CHANGELOG.md)
    [[ $heading =~ ^"## $version – "[0-9]{4}-[0-9]{2}-[0-9]{2}$ ]] ||
        { echo "expected \"## $version – YYYY-MM-DD\" at the top of CHANGELOG.md, found \"$heading\""; return 1; }
}

# The same commit elsewhere gives the same bytes.
check_again() {
    local clone
    clone=$(mktemp -d "${TMPDIR:-/var/tmp}/steelyard-release.XXXXXX") || return 1
    git clone --quiet . "$clone/elsewhere" && make --silent -C "$clone/elsewhere" dist > "$clone/log" &&
        diff dist/SHA256SUMS "$clone/elsewhere/dist/SHA256SUMS"
    local result=$?
    [ $result = 0 ] || tail -n 20 "$clone/log"
    rm -rf "$clone"
    return $result
}

all=(state changelog audit docs test long crates dist again dist-check)
[ $# -gt 0 ] || set -- "${all[@]}"
failed=()
for check in "$@"; do
    printf '\n==== %s\n' "$check"
    case $check in
        state | changelog | again) "check_$check" ;;
        audit | docs | test | long | crates | dist | dist-check) make --silent "$check" ;;
        *) echo "release: there is no check \`$check\`" >&2; exit 2 ;;
    esac || failed+=("$check")
done

if [ ${#failed[@]} -gt 0 ]; then
    printf '\nrelease: of %d checks, these failed: %s\n' $# "${failed[*]}"
    exit 1
fi
if [ "$*" != "${all[*]}" ]; then
    printf '\nrelease: passed: %s. Before a release, all of these have to: %s\n' "$*" "${all[*]}"
    exit
fi
cat << END

All checks passed. To release $version:

  git tag --annotate v$version --message "steelyard $version"
  git push origin v$version
  attach all files in dist/ to the release, with its part of CHANGELOG.md as the text
  twine upload dist/*.whl
  cargo publish --workspace    (for names that are new, ask the registry for a higher limit first)

Then set the next version in Cargo.toml and begin its part of CHANGELOG.md.
END
