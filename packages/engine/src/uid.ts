import { chown, mkdir } from 'node:fs/promises'

/** The uid of builders and checks on a host whose tools run as root: the first ordinary user of a Linux image. */
const ordinaryId = 1000

/** The uid that builders, collectors and checks run as: this process's own, or 1000 when that is root. */
export function builderUid(): number {
  return process.getuid?.() || ordinaryId
}

/** The gid that goes with `builderUid`, so that what a builder writes on the host belongs to the user's own group. */
export function builderGid(): number {
  return builderUid() === process.getuid?.() ? (process.getgid?.() ?? ordinaryId) : ordinaryId
}

/**
 * Makes a host folder (mode 700, parents too) that a builder can write: its `out/`. The folder belongs to the builder's
 * uid, so whatever a builder leaves there can be removed by the user who started it.
 */
export async function makeBuilderFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 })
  if (process.getuid?.() === 0) await chown(path, builderUid(), builderGid())
}
