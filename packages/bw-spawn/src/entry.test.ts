import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { entryArgv, entryScript } from './entry.ts'

/** Runs the entry script on this host, with its fixed places moved into a temporary folder. */
function run(argv: string[], { bytes, stdin = '/dev/null' }: { bytes: number; stdin?: string }) {
  const place = mkdtempSync(join(tmpdir(), 'bw-entry-'))
  for (const name of ['work', 'out']) mkdirSync(join(place, name))
  const script = entryScript
    .replaceAll('/bw/out', join(place, 'out'))
    .replaceAll('cd /work', `cd ${join(place, 'work')}`)
  writeFileSync(join(place, 'entry.sh'), script)
  const [shell = '', , ...rest] = entryArgv(argv, { bytes, stdin })
  const { status } = spawnSync(shell, [join(place, 'entry.sh'), ...rest], { timeout: 20_000, stdio: 'ignore' })
  const read = (name: string) => readFileSync(join(place, 'out', name), 'utf8')
  return { status, stream: read('stream.jsonl'), errors: read('stderr.log') }
}

test("the agent's output, errors and exit status come out apart", () => {
  const result = run(['sh', '-c', 'echo out; echo err >&2; exit 7'], { bytes: 1000 })
  expect(result).toEqual({ status: 7, stream: 'out\n', errors: 'err\n' })
})

test('output over the bound is dropped and the agent goes on to its own end', () => {
  const result = run(['sh', '-c', 'head -c 5000000 /dev/zero; head -c 5000000 /dev/zero >&2; exit 3'], { bytes: 1000 })
  expect([result.status, result.stream.length, result.errors.length]).toEqual([3, 1000, 1000])
})

test('the prompt can be stdin, and a word with spaces or quotes stays one word', () => {
  const prompt = join(mkdtempSync(join(tmpdir(), 'bw-prompt-')), 'p.md')
  writeFileSync(prompt, 'the prompt')
  const result = run(['sh', '-c', 'cat; printf %s "$1"', 'x', `a 'b" $c`], { bytes: 1000, stdin: prompt })
  expect(result.stream).toBe(`the prompta 'b" $c`)
})

test('what the agent leaves running does not keep the builder alive', () => {
  const result = run(['sh', '-c', 'echo done; sleep 300 & exit 4'], { bytes: 1000 })
  expect(result).toEqual({ status: 4, stream: 'done\n', errors: '' })
})
