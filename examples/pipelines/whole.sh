#!/usr/bin/env bash
# The whole job as one pipe, with every record kept. Usage: whole.sh PLAN.md [bw-spawn flags…], in the repository.
# Run it again after any interruption: what is done is not done twice.
set -uo pipefail
plan=${1:?usage: whole.sh PLAN.md [bw-spawn flags...]}
shift
bw-plan "$plan" | bw-baseline | bw-spawn "$@" | bw-watch | bw-collect | bw-scan | bw-merge | bw-verify | bw-deliver | tee run.ndjson
status=("${PIPESTATUS[@]}")
# The last stage that says something other than 0 is the one to read.
for code in "${status[@]}"; do [ "$code" -eq 0 ] || exit "$code"; done
