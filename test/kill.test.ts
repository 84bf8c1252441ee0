import { describe, expect, test } from 'vitest'
import { runPipe, scriptPipe, wholePipe } from './support/pipeline.ts'
import { git } from './support/repository.ts'
import { makeSmallPlan } from './support/small-plan.ts'

const planArgs = ['--test', 'sh check.sh']
const table: string[] = []

describe('kill -9 of one stage after its first record', () => {
  test.each(wholePipe)(
    '%s: all others end within 10 s, non-zero, and the same line finishes the run',
    async (victim) => {
      const { repo, scripts, env } = makeSmallPlan()
      const stages = scriptPipe(scripts, { planArgs })
      let killedAt = 0
      const lateBy: Record<string, number> = {}
      const broken = await runPipe(stages, {
        cwd: repo,
        env,
        onStart(children) {
          const target = children.get(victim)
          target?.stdout?.once('data', () => {
            killedAt = Date.now()
            target.kill('SIGKILL')
          })
          for (const [tool, child] of children) child.once('exit', () => (lateBy[tool] = Date.now()))
        },
      })
      table.push(`${victim.padEnd(12)} ${Object.values(broken.status).join(' ')}`)
      // A plan that was out whole before the kill reached it leaves nothing to interrupt.
      const isTooLate = victim === 'bw-plan' && broken.stdout.includes('"stage":"bw-plan","complete":true')
      for (const [tool, status] of Object.entries(broken.status)) {
        const ended = lateBy[tool] ?? 0
        // bw-plan is pure: with its few lines in the pipe it has nothing left to do.
        if (isTooLate || ended < killedAt || (tool === 'bw-plan' && tool !== victim)) continue
        expect([tool, status === 0], JSON.stringify(broken)).toEqual([tool, false])
        expect(ended - killedAt).toBeLessThan(10_000)
      }

      const again = await runPipe(stages, { cwd: repo, env })
      expect(Object.values(again.status), JSON.stringify(again.stderr)).toEqual(stages.map(() => 0))
      const delivered = String(again.records.findLast(({ kind }) => kind === 'delivery')?.['ref'])
      expect(git(repo, 'ls-tree', '--name-only', delivered).split('\n')).toEqual([
        'PLAN.md',
        'check.sh',
        'one.txt',
        'start.txt',
        'three.txt',
        'two.txt',
      ])
      if (victim === 'bw-deliver') process.stdout.write(`\nkilled       ${wholePipe.join(' ')}\n${table.join('\n')}\n`)
    },
  )
})
