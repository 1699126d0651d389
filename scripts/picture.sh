#!/usr/bin/env bash
# Makes docs/page.png, the picture in README.md, from the results of `make demo`.
#
#   scripts/picture.sh
set -euo pipefail
cd "$(dirname "$0")/.."

page=$PWD/demo-results/report.html
[ -e "$page" ] || { echo "picture: $page is missing; run make demo first" >&2; exit 2; }
for browser in "${CHROMIUM:-}" chromium chromium-browser google-chrome; do
    if [ -n "$browser" ] && command -v "$browser" > /dev/null 2>&1; then break; fi
done
# The page is drawn by its script; virtual time lets that end. The head and the first step are
# shown.
"$browser" --headless --no-sandbox --hide-scrollbars --disable-gpu --virtual-time-budget=5000 \
    --window-size=1180,900 --screenshot=docs/page.png "file://$page" > /dev/null 2>&1
size=$(stat -c %s docs/page.png)
if [ "$size" -ge 200000 ]; then
    echo "picture: docs/page.png has $size bytes, expected less than 200000" >&2
    exit 1
fi
echo "picture: docs/page.png, $size bytes"
