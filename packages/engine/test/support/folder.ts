import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'

// Here and not in the tests: what is registered while a test runs is never called.
const all = mkdtempSync(join(tmpdir(), 'bw-engine-test-'))
afterAll(() => rmSync(all, { recursive: true, force: true }))

/** A fresh folder of this test file, gone when the file's tests are over. */
export function newFolder(): string {
  return mkdtempSync(join(all, 'f-'))
}
