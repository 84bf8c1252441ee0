#!/usr/bin/env bash
# The whole job as one pipe, with every record kept. Usage: whole.sh PLAN.md [bw-spawn flags…], in the repository.
# Run it again after any interruption: what is done is not done twice.
set -u
plan=${1:?usage: whole.sh PLAN.md [bw-spawn flags...]}
shift
bw-plan "$plan" |
  bw-baseline |
  bw-spawn "$@" |
  bw-watch |
  bw-collect |
  bw-scan |
  bw-merge |
  bw-verify |
  bw-deliver |
  tee run.ndjson
status=("${PIPESTATUS[@]}")
# An interrupt or a failed stage says more than what became of an item, and bw-deliver says the most of that.
for code in "${status[@]}"; do
  case $code in 0 | 3 | 4 | 5) ;; *) exit "$code" ;; esac
done
exit "${status[8]}"
