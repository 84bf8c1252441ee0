/**
 * The token of one attempt: its item and attempt in clear and a MAC under the run's key, so that a gateway that was
 * restarted knows every builder again without having kept anything. It opens nothing but the run's own socket.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Holder {
  item: string
  attempt: number
}

const prefix = 'bw1'
const shape = /^bw1~([a-z0-9][a-z0-9._-]{0,79})~([1-9]\d{0,8})~([A-Za-z0-9_-]{43})$/

export function makeToken(key: Buffer, { item, attempt }: Holder): string {
  return `${prefix}~${item}~${attempt}~${mac(key, item, attempt)}`
}

/** Whose token it is, or null when it is none of this run's. */
export function readToken(key: Buffer, token: string): Holder | null {
  const [, item, attempt, given] = shape.exec(token) ?? []
  if (item === undefined || attempt === undefined || given === undefined) return null
  const isOurs = timingSafeEqual(Buffer.from(given), Buffer.from(mac(key, item, Number(attempt))))
  return isOurs ? { item, attempt: Number(attempt) } : null
}

function mac(key: Buffer, item: string, attempt: number): string {
  return createHmac('sha256', key)
    .update(JSON.stringify([item, attempt]))
    .digest('base64url')
}

/** The run's key, made by whoever asks first: a link either takes the name or finds it taken, so all get the same one. */
export function runKey(runDir: string): Buffer {
  const path = join(runDir, 'gateway.key')
  const mine = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`
  const existing = readKey(path)
  if (existing !== null) return existing
  writeFileSync(mine, randomBytes(32), { mode: 0o600, flag: 'wx' })
  try {
    linkSync(mine, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(mine, { force: true })
  }
  return readFileSync(path)
}

function readKey(path: string): Buffer | null {
  try {
    return readFileSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}
