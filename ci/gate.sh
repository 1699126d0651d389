#!/usr/bin/env bash
# Judges the change that is checked out. PLAN, BASE, HEAD and OPTIONS say how; what it finds goes to
# steelyard-gate.md and steelyard-gate.xml, to the job's summary, and to the lines of the source.
set -euo pipefail
read -ra options <<< "${OPTIONS-}"
status=0
rm -f steelyard-gate.md steelyard-gate.xml steelyard-gate.lines
steelyard gate "$PLAN" --base "$BASE" --head "$HEAD" --comment steelyard-gate.md \
    --junit steelyard-gate.xml --annotations steelyard-gate.lines "${options[@]}" > /dev/null ||
    status=$?
if [ -f steelyard-gate.md ]; then
    cat steelyard-gate.md >> "${GITHUB_STEP_SUMMARY:-/dev/null}"
    echo "comment=steelyard-gate.md" >> "${GITHUB_OUTPUT:-/dev/null}"
fi
# GitHub's runner takes annotations from what a step prints.
if [ -f steelyard-gate.lines ] && [ -n "${GITHUB_ACTIONS-}" ]; then
    cat steelyard-gate.lines
fi
exit "$status"
