import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * The argv of one of our programs that run inside containers (`packages/engine/inside/*.sh`). Their text travels with the
 * call, so that an image made by an older version cannot run an older program.
 */
export function program(name: string, ...args: readonly string[]): string[] {
  return ['sh', '-c', readFileSync(ownFile(`packages/engine/inside/${name}.sh`), 'utf8'), name, ...args]
}

/**
 * The path of a file of this workspace. Found from the workspace's root, since the bundled tools lie elsewhere than their
 * sources do.
 */
export function ownFile(path: string): string {
  let folder = import.meta.dirname
  while (!existsSync(join(folder, 'pnpm-workspace.yaml'))) {
    const above = dirname(folder)
    if (above === folder) throw new Error(`no workspace around '${import.meta.dirname}'`)
    folder = above
  }
  return join(folder, path)
}
