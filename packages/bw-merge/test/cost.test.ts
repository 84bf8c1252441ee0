import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { item, openScene, passed } from './scene.ts'

test('each further item costs one git process, its merge', async () => {
  const scene = await openScene()
  const names = Array.from({ length: 6 }, (_, n) => `item${n}`)
  const patches = await Promise.all(names.map(async (name) => ({ name, commit: '' })))
  for (const patch of patches) patch.commit = await scene.commit({ [`${patch.name}.txt`]: 'x\n' })
  const records = await Promise.all(patches.map(async ({ name, commit }) => passed(await scene.patch(name, commit))))
  const calls = countGit(scene.state)
  await scene.merge([...names.map((name) => item(name)), ...records.flat()])
  const verbs = calls()
  expect(verbs.filter((verb) => verb === 'merge-tree')).toHaveLength(names.length)
  expect(verbs.length - names.length).toBeLessThanOrEqual(7)
})

/** Puts a git in front of the real one that notes what it is asked; gives back the verbs so far. */
function countGit(folder: string): () => string[] {
  const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim()
  const [bin, log] = [join(folder, 'bin'), join(folder, 'calls')]
  mkdirSync(bin)
  writeFileSync(
    join(bin, 'git'),
    `#!/bin/sh\nfor word; do case $word in -*) ;; *) echo "$word" >> '${log}'; break;; esac; done\nexec ${real} "$@"\n`,
  )
  chmodSync(join(bin, 'git'), 0o755)
  const before = process.env['PATH']
  process.env['PATH'] = `${bin}:${before}`
  onTestFinished(() => {
    process.env['PATH'] = before
  })
  return () => readFileSync(log, 'utf8').trim().split('\n')
}
