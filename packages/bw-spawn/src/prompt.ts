import type { ItemRecord, RunRecord } from '@buildwave/core'

/** The self-contained prompt of one item: what to do, what is its own, and what will be checked. */
export function writePrompt(run: RunRecord, item: ItemRecord): string {
  const parts = [
    `# ${item.title}`,
    item.text.trim(),
    [
      'You work alone in `/work`, a checkout of the repository. Nobody can be asked, and there is no network.',
      'Leave your changes in the working tree; committing is neither needed nor harmful.',
    ].join('\n'),
    owned(run, item),
    checked(run, item),
  ]
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`
}

function owned(run: RunRecord, item: ItemRecord): string {
  const lines =
    item.owns.length === 0
      ? []
      : [
          `These files are yours: ${list(item.owns)}. Others work on the rest at the same time; changes elsewhere are flagged.`,
        ]
  if (run.shared.length > 0) lines.push(`Everybody may add lines to ${list(run.shared)}; change or remove none there.`)
  return lines.join('\n')
}

function checked(run: RunRecord, item: ItemRecord): string {
  const lines = [
    `When you are done, \`${run.test}\` is run in a fresh container; a test that passed before must still pass, and must not be skipped.`,
  ]
  if (item.type === 'bugfix') lines.push('This is a bug fix: add a test that fails without your fix.')
  return lines.join('\n')
}

function list(globs: readonly string[]): string {
  return globs.map((glob) => `\`${glob}\``).join(', ')
}
