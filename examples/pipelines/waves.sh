#!/usr/bin/env bash
# The same job wave by wave, so that somebody can think in between: build a wave, look at it, merge it, go on.
# Usage: waves.sh PLAN.md [bw-spawn flags…], in the repository.
set -euo pipefail
plan=${1:?usage: waves.sh PLAN.md [bw-spawn flags...]}
shift

# 3, 4 and 5 are about items: the stream is whole, and the stages after it leave those items out. Anything else is the end.
go_on() { case $1 in 0 | 3 | 4 | 5) ;; *) exit "$1" ;; esac }

bw-plan "$plan" | bw-baseline > plan.ndjson
while true; do
  bw-spawn "$@" < plan.ndjson | bw-watch > built.ndjson || go_on $?
  bw-collect < built.ndjson | bw-scan | bw-merge > merged.ndjson || go_on $?
  # Nothing waits for a merge any more: the last wave is in.
  jq -se 'any(.[]; .kind == "deferred" and .reason == "dependency-pending")' < built.ndjson > /dev/null || break
done
bw-verify < merged.ndjson | bw-deliver
