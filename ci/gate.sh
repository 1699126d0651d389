#!/usr/bin/env bash
# Judges the change that is checked out. PLAN, BASE, HEAD and OPTIONS say how; what it finds goes to
# steelyard-gate.md and steelyard-gate.xml, and to the job's summary.
set -euo pipefail
read -ra options <<< "${OPTIONS-}"
status=0
rm -f steelyard-gate.md steelyard-gate.xml
steelyard gate "$PLAN" --base "$BASE" --head "$HEAD" --comment steelyard-gate.md \
    --junit steelyard-gate.xml "${options[@]}" > /dev/null || status=$?
if [ -f steelyard-gate.md ]; then
    cat steelyard-gate.md >> "${GITHUB_STEP_SUMMARY:-/dev/null}"
    echo "comment=steelyard-gate.md" >> "${GITHUB_OUTPUT:-/dev/null}"
fi
exit "$status"
