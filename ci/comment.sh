#!/usr/bin/env bash
# Puts the comment that `steelyard gate` wrote on the pull request of a commit, in place of the one
# that is there. It belongs in a job that may write comments, after one that may not has left the
# file. The file may come from anybody, so it is only read as text.
#
#   ci/comment.sh OWNER/REPOSITORY COMMIT FILE
set -euo pipefail
repository=$1 commit=$2 file=$3
if [ -L "$file" ] || ! [ -f "$file" ]; then
    echo "$file: expected a file with a comment" >&2
    exit 2
fi
mark=$(head -n 1 "$file")
if ! [[ $mark =~ ^'<!-- steelyard gate '[A-Za-z0-9._-]+' -->'$ ]]; then
    echo "$file: expected a comment of steelyard gate, found another first line" >&2
    exit 2
fi
if ! [[ $commit =~ ^[0-9a-f]{40}$ ]]; then
    echo "expected a commit's 40 digits, found $commit" >&2
    exit 2
fi
number=$(gh pr list --repo "$repository" --state open --limit 1000 --json number,headRefOid \
    --jq ".[] | select(.headRefOid == \"$commit\") | .number" | head -n 1)
if [ -z "$number" ]; then
    echo "no open pull request has $commit as its head; nothing to do"
    exit 0
fi
own="(.user.login == \"github-actions[bot]\") and (.body | startswith(\"$mark\"))"
comment=$(gh api --paginate "repos/$repository/issues/$number/comments" \
    --jq ".[] | select($own) | .id" | head -n 1)
if [ -n "$comment" ]; then
    gh api --silent --method PATCH "repos/$repository/issues/comments/$comment" -F "body=@$file"
else
    gh api --silent --method POST "repos/$repository/issues/$number/comments" -F "body=@$file"
fi
