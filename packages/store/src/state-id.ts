import { randomBytes } from 'node:crypto'
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * The id of a state folder, 8 hex digits, made with the folder. It stands on everything that a run of this folder has on
 * the engine: the same run in another folder, or in this one after it was removed and made anew, is a stranger there.
 */
export function stateId(state: string): string {
  mkdirSync(state, { recursive: true, mode: 0o700 })
  const path = join(state, 'id')
  const known = readId(path)
  if (known !== undefined) return known
  const own = `${path}.${process.pid}`
  writeFileSync(own, `${randomBytes(4).toString('hex')}\n`, { mode: 0o600 })
  try {
    // Of stages that start together the first one wins, and nobody ever reads half an id.
    linkSync(own, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(own, { force: true })
  }
  return readId(path) ?? stateId(state)
}

function readId(path: string): string | undefined {
  try {
    const id = readFileSync(path, 'utf8').trim()
    return /^[0-9a-f]{8}$/.test(id) ? id : undefined
  } catch {
    return undefined
  }
}
