import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type PipeResult, runPipe, scriptPipe } from './support/pipeline.ts'
import { git } from './support/repository.ts'
import { makeSmallPlan } from './support/small-plan.ts'

const planArgs = ['--test', 'sh check.sh']
const answers = ({ records }: PipeResult) =>
  records
    .filter(({ kind }) => kind === 'merge')
    .map(({ item, outcome, reason }) => [item, outcome, reason].map(String))
    .sort()

describe('items that do not make it', () => {
  test('a conflict, a failing item and what depends on it each get one answer; the rest is delivered with --partial', async () => {
    const { repo, scripts, env } = makeSmallPlan({
      plan: [
        '- [ ] 1. Write `one.txt`',
        '- [ ] 2. Write `two.txt`',
        '- [ ] 3. Write `three.txt`',
        '- [ ] 4. Write `four.txt` (depends on 3)',
        '- [ ] 5. Write `five.txt` (depends on 4)',
      ],
      scripts: {
        '1.sh': 'echo good one > one.txt; echo good one > start.txt\n',
        '2.sh': 'echo good two > two.txt; echo good two > start.txt\n',
        '3.sh': 'echo oops > three.txt\n',
        'default.sh': 'echo good > never.txt\n',
      },
    })
    const refused = await runPipe(scriptPipe(scripts, { planArgs }), { cwd: repo, env })
    expect(answers(refused).map(([item, outcome]) => [item, outcome])).toEqual([
      ['1', 'applied'],
      ['2', 'conflict'],
      ['3', 'skipped'],
      ['4', 'skipped'],
      ['5', 'skipped'],
    ])
    expect([refused.status['bw-collect'], refused.status['bw-merge'], refused.status['bw-deliver']]).toEqual([5, 3, 5])
    expect(git(repo, 'for-each-ref', 'refs/heads/builders')).toBe('')

    const partial = await runPipe(scriptPipe(scripts, { planArgs, deliverArgs: ['--partial'] }), { cwd: repo, env })
    expect(partial.status['bw-deliver'], JSON.stringify(partial.stderr)).toBe(0)
    expect(answers(partial)).toEqual(answers(refused))
    const delivered = String(partial.records.findLast(({ kind }) => kind === 'delivery')?.['ref'])
    expect(git(repo, 'show', `${delivered}:start.txt`)).toBe('good one')
  })

  test('an agent that fails is not merged, whatever it left', async () => {
    const { repo, scripts, env } = makeSmallPlan({
      plan: ['- [ ] 1. Write `one.txt`'],
      scripts: { '1.sh': 'echo good > one.txt; exit 1\n' },
    })
    const result = await runPipe(scriptPipe(scripts, { planArgs }), { cwd: repo, env })
    expect(answers(result)).toEqual([['1', 'skipped', 'build-failed']])
    expect(result.status['bw-watch']).toBe(5)
  })

  test('a secret in a patch blocks the item and is printed nowhere', async () => {
    // Put together here and in the builder, so that no whole credential stands in a file of ours.
    const body = randomBytes(72).toString('base64url')
    const { repo, scripts, env, state } = makeSmallPlan({
      plan: ['- [ ] 1. Write `one.txt`'],
      scripts: { '1.sh': `printf 'good sk-ant-%s' 'oat01-${body}' > one.txt; cat one.txt\n` },
    })
    const result = await runPipe(scriptPipe(scripts, { planArgs }), { cwd: repo, env })
    expect(result.status['bw-scan'], JSON.stringify(result.stderr)).toBe(5)
    expect(answers(result).map(([item, outcome]) => [item, outcome])).toEqual([['1', 'skipped']])
    expect(`${result.stdout}${Object.values(result.stderr).join('')}`).not.toContain(body)
    const journal = join(state, 'runs', String(result.records[0]?.['run']), 'journal.ndjson')
    expect(readFileSync(journal, 'utf8')).not.toContain(body)
  })
})
