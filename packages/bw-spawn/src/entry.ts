/**
 * The builder's main process: a small shell program that starts the agent with the prompt and keeps its output in
 * `out/`, bounded. The agent goes on when a bound is met; what is over it is dropped. `head` holds its
 * output back unless `stdbuf` is there, and a watcher would see events late.
 */
export const entryScript = `#!/bin/sh
# usage: entry.sh BYTES STDIN PROGRAM [ARGUMENT...]
bytes=$1 stdin=$2
shift 2
cd /work || exit 125
errors=$(mktemp -u) output=$(mktemp -u)
mkfifo "$errors" "$output"
unbuffered=$(command -v stdbuf >/dev/null && echo 'stdbuf -o0')
keep() { $unbuffered head -c "$bytes" >"$1"; cat >/dev/null; }
keep /bw/out/stderr.log <"$errors" &
first=$!
keep /bw/out/stream.jsonl <"$output" &
second=$!
"$@" <"$stdin" >"$output" 2>"$errors"
status=$?
# What the agent left running may hold the pipes open for ever: its own end is the end.
{ sleep 1; kill "$first" "$second"; } 2>/dev/null &
timer=$!
wait "$first" "$second" 2>/dev/null
kill "$timer" 2>/dev/null
exit "$status"
`

/** The main process's argv. `stdin` is a path inside the builder. */
export function entryArgv(argv: readonly string[], { bytes, stdin }: { bytes: number; stdin: string }): string[] {
  return ['/bin/sh', '/bw/in/entry.sh', String(bytes), stdin, ...argv]
}
