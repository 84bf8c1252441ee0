#!/usr/bin/env bash
# One stage debugged alone from a saved stream: collect again only what one item built, and look at the result.
# Usage: one-stage.sh built.ndjson ITEM
set -euo pipefail
stream=${1:?usage: one-stage.sh built.ndjson ITEM}
item=${2:?usage: one-stage.sh built.ndjson ITEM}
jq -c --arg item "$item" 'select(.item == null or .item == $item)' < "$stream" |
  bw-collect --again |
  jq 'select(.kind == "patch") | {item, verdict, blockedBy, files: [.files[].path], tests: .tests.verdict, changes}'
