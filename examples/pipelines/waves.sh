#!/usr/bin/env bash
# The same job wave by wave, so that somebody can think in between: build a wave, look at it, merge it, go on.
# Usage: waves.sh PLAN.md [bw-spawn flags…], in the repository.
set -euo pipefail
plan=${1:?usage: waves.sh PLAN.md [bw-spawn flags...]}
shift
while true; do
  bw-plan "$plan" | tee plan.ndjson | bw-spawn "$@" | bw-watch > built.ndjson || true
  bw-collect < built.ndjson | bw-scan | bw-merge > merged.ndjson || true
  # Nothing was deferred for want of a merge: the last wave is in.
  jq -se 'any(.[]; .kind == "deferred" and .reason == "dependency-pending")' < built.ndjson > /dev/null || break
done
bw-verify < merged.ndjson | bw-deliver
