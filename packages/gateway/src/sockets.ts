import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, lstatSync, mkdirSync, renameSync, rmdirSync, rmSync, statSync } from 'node:fs'
import type { Server } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { UserError } from '@buildwave/core'
import type { Env } from './dial.ts'

export interface SocketPaths {
  /** Mounted into holders. The folder and not the socket, so that a restarted gateway is seen there. */
  dir: string
  api: string
  control: string
}

/** A socket's path ends at 107 bytes on Linux, and the error for a longer one says nothing. */
const longestPath = 107

/**
 * Where a run's gateway listens: `$XDG_RUNTIME_DIR/bw/<8 hex>/`, or `/tmp/bw-<uid>/<8 hex>/`. The folder above is ours
 * alone (0700); the run's own is 0711 with a socket of 0666, since a holder's root has no capability to open more.
 */
export function socketPaths(runDir: string, env: Env): SocketPaths {
  const name = createHash('sha256').update(runDir).digest('hex').slice(0, 8)
  const base = join(baseFolder(env), name)
  const paths = { dir: base, api: join(base, 'api.sock'), control: `${base}.ctl` }
  // The name is first taken with a process id behind it.
  if (Buffer.byteLength(paths.api) + 8 > longestPath) {
    throw new UserError('socket-path', `'${paths.api}' is too long for a socket`, {
      hint: 'set XDG_RUNTIME_DIR to a short path',
    })
  }
  return paths
}

function baseFolder(env: Env): string {
  const runtime = env['XDG_RUNTIME_DIR']
  if (runtime?.startsWith('/') && isOurs(runtime)) return join(runtime, 'bw')
  return `/tmp/bw-${process.getuid?.() ?? 0}`
}

/** Makes both folders with their modes. Throws UserError `socket-folder` when somebody else got there first. */
export function makeFolders({ dir }: SocketPaths): void {
  const above = join(dir, '..')
  mkdirSync(above, { recursive: true, mode: 0o700 })
  if (!isOurs(above)) throw new UserError('socket-folder', `'${above}' is not a folder of ours alone`)
  chmodSync(above, 0o700)
  mkdirSync(dir, { recursive: true, mode: 0o711 })
  chmodSync(dir, 0o711)
}

/** Of the link itself: in /tmp anybody could have made one that leads elsewhere. */
function isOurs(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false })
  return found?.isDirectory() === true && found.uid === process.getuid?.()
}

/**
 * Listens on a path. A socket that nobody answers on is what a killed gateway left, and is replaced. The name is taken by
 * a rename, so that it always leads to a socket with its mode, and so that closing the server (which removes the name it
 * was given) never removes another gateway's.
 */
export async function listen(server: Server, path: string, mode: number): Promise<'listening' | 'taken'> {
  if (await answers(path)) return 'taken'
  const own = `${path}.${process.pid.toString(36)}`
  rmSync(own, { force: true })
  server.listen(own)
  await once(server, 'listening')
  chmodSync(own, mode)
  renameSync(own, path)
  return 'listening'
}

/** True when somebody listens on the socket. */
export function answers(path: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = connect(path)
  socket.on('connect', () => resolve(true))
  socket.on('error', () => resolve(false))
  return promise.finally(() => socket.destroy())
}

/** Removes what `listen` made, unless another gateway has taken the place meanwhile. */
export function removeSocket(path: string, inode: number): void {
  if (statSync(path, { throwIfNoEntry: false })?.ino === inode) rmSync(path, { force: true })
}

/** Removes the run's folder when nothing is in it. */
export function removeFolder({ dir }: SocketPaths): void {
  try {
    rmdirSync(dir)
  } catch {
    // Another gateway of the run has its socket there.
  }
}

export function inodeOf(path: string): number {
  return statSync(path).ino
}
