import { createHash } from 'node:crypto'
import { access, readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { UserError } from '@buildwave/core'
import { type Agent, type ForItem, inputFolder, type LocateOptions } from './agent.ts'
import { openScriptStream } from './script-stream.ts'

const inside = 'script.sh'

/**
 * A deterministic stand-in for demos and tests: a folder with one POSIX shell file per item, `<item>.sh`, or
 * `<item>.<attempt>.sh` for one attempt, else `default.sh`. It runs in `/work` with the prompt's path as its argument.
 */
export const script: Agent = {
  name: 'script',
  defaultModel: null,
  needs: { gateway: false },
  async locate(options) {
    await requireFolder(options)
    return { binary: null, mount: null, inside: null }
  },
  inputs: async (options) => [{ name: inside, from: await scriptFor(options) }],
  command: ({ promptPath }) => ({ argv: ['sh', `${inputFolder}/${inside}`, promptPath], env: {}, stdin: 'none' }),
  openStream: openScriptStream,
  // All attempts' files count: the key names the item's work, whichever attempt does it.
  async resultKey(options) {
    const folder = folderOf(options)
    const isForItem = (name: string) => name === 'default.sh' || isOwnScript(name, options.item)
    const names = (await readdir(folder)).filter(isForItem).sort()
    const hash = createHash('sha256')
    for (const name of names) hash.update(JSON.stringify([name, await readFile(join(folder, name), 'utf8')]))
    return JSON.stringify(['script', hash.digest('hex')])
  },
}

async function requireFolder(options: LocateOptions): Promise<void> {
  const folder = folderOf(options)
  options.guard(folder)
  const isFolder = await stat(folder).then(
    (found) => found.isDirectory(),
    () => false,
  )
  if (!isFolder) {
    throw new UserError('script-folder', `cannot read folder '${folder}'`, { hint: 'name a folder with --script' })
  }
}

async function scriptFor(options: ForItem): Promise<string> {
  const folder = folderOf(options)
  const names = [`${options.item}.${options.attempt}.sh`, `${options.item}.sh`, 'default.sh']
  for (const name of names) {
    if (await exists(join(folder, name))) return join(folder, name)
  }
  throw new UserError('script-missing', `no script for item '${options.item}' in '${folder}'`, {
    hint: `add ${options.item}.sh or default.sh`,
  })
}

function folderOf({ settings }: Pick<ForItem, 'settings'>): string {
  if (settings.scriptDir === null) {
    throw new UserError('script-folder', "agent 'script' has no folder of scripts", {
      hint: 'name it with --script DIR',
    })
  }
  return settings.scriptDir
}

function isOwnScript(name: string, item: string): boolean {
  return name.startsWith(`${item}.`) && /^(\d+\.)?sh$/.test(name.slice(item.length + 1))
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
