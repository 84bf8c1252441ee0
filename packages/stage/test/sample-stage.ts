/** A stage for tests: answers each item with one `failure` record, keyed by the item, after `SAMPLE_MS` milliseconds. */
import { setTimeout as sleep } from 'node:timers/promises'
import { exit } from '@buildwave/core'
import { defineTool, runTool } from '@buildwave/stdio'
import { workKey } from '@buildwave/store'
import { runStage, stageFlags } from '../src/index.ts'

const tool = defineTool({
  name: process.env['SAMPLE_NAME'] ?? 'bw-sample',
  summary: 'a sample',
  usage: [],
  examples: [],
  flags: stageFlags,
  reads: '',
  writes: '',
  run: (call) =>
    runStage(call, {}, async (stage) => {
      for await (const record of stage.input()) {
        if (record.kind !== 'item') continue
        const key = workKey(record, stage.name)
        const known = stage.findByKey('failure', key)
        if (known !== undefined) {
          await stage.passOn(known)
          continue
        }
        await sleep(Number(process.env['SAMPLE_MS'] ?? 0), undefined, { signal: stage.interrupt.now })
        await stage.emit({
          kind: 'failure',
          v: 1,
          run: stage.run.run,
          item: String(record['item']),
          at: new Date().toISOString(),
          stage: stage.name,
          code: 'sample',
          message: 'sampled',
          hint: null,
          key,
        })
      }
      return [exit.problem]
    }),
})

await runTool(tool)
