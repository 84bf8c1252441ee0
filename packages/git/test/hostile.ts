import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { git } from './scratch.ts'

/**
 * Sets everything in a user's repository that makes a careless git call run a program or change a byte. Whatever runs
 * leaves a line in the file that comes back.
 */
export function makeHostile(repo: string, folder: string): string {
  const canary = join(folder, 'canary')
  const program = join(folder, 'program')
  writeFileSync(program, `#!/bin/sh\necho "$0 $*" >> ${canary}\nexit 1\n`)
  chmodSync(program, 0o755)
  const hooks = join(folder, 'hooks')
  mkdirSync(hooks)
  const names = [
    'reference-transaction',
    'post-checkout',
    'pre-commit',
    'post-commit',
    'post-index-change',
    'update',
    'pre-auto-gc',
  ]
  for (const place of [hooks, join(repo, '.git', 'hooks')]) {
    mkdirSync(place, { recursive: true })
    for (const name of names) {
      writeFileSync(join(place, name), `#!/bin/sh\necho hook ${name} >> ${canary}\nexit 1\n`)
      chmodSync(join(place, name), 0o755)
    }
  }
  const attributes = join(folder, 'attributes')
  writeFileSync(
    attributes,
    '* text eol=crlf filter=evil diff=evil merge=evil ident export-subst\n*.txt export-ignore\n',
  )
  mkdirSync(join(repo, '.git', 'info'), { recursive: true })
  writeFileSync(join(repo, '.git', 'info', 'attributes'), '* text eol=crlf filter=evil diff=evil merge=evil\n')
  const settings: Record<string, string> = {
    'core.hooksPath': hooks,
    'core.fsmonitor': program,
    'core.sshCommand': program,
    'core.pager': program,
    'core.attributesFile': attributes,
    'core.autocrlf': 'true',
    'core.eol': 'crlf',
    'core.fileMode': 'false',
    'core.symlinks': 'false',
    'core.logAllRefUpdates': 'always',
    'core.quotePath': 'true',
    'color.ui': 'always',
    'commit.gpgSign': 'true',
    'gpg.program': program,
    'log.showSignature': 'true',
    'diff.external': program,
    'diff.noprefix': 'true',
    'diff.mnemonicPrefix': 'true',
    'diff.renames': 'copies',
    'diff.evil.command': program,
    'diff.evil.textconv': program,
    'filter.evil.clean': program,
    'filter.evil.smudge': program,
    'filter.evil.process': program,
    'filter.evil.required': 'true',
    'merge.evil.driver': program,
    'merge.renormalize': 'true',
    'init.templateDir': folder,
    'gc.auto': '1',
    'gc.autoDetach': 'false',
    'maintenance.auto': 'true',
    'uploadpack.packObjectsHook': program,
    'i18n.logOutputEncoding': 'ISO-8859-1',
    'alias.rev-parse': `!${program}`,
  }
  for (const [key, value] of Object.entries(settings)) git(repo, 'config', key, value)
  return canary
}
