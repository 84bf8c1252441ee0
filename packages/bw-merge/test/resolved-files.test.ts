import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { readResolved } from '../src/resolved-files.ts'

test('a folder that became a link leads nowhere outside', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'bw-resolved-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const [files, outside] = [join(folder, 'files'), join(folder, 'outside')]
  for (const path of [files, outside]) mkdirSync(path)
  writeFileSync(join(outside, 'private'), 'x')
  symlinkSync(outside, join(files, 'dir'))
  await expect(readResolved(files, 'dir/private')).rejects.toMatchObject({ code: 'not-a-file' })
  expect(await readResolved(files, 'dir')).toMatchObject({ mode: '120000' })
  expect(await readResolved(files, 'absent')).toBeNull()
})
