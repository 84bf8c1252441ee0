import { showSize } from '@buildwave/runs'
import { safeText } from '@buildwave/secrets'
import type { AnyRecord } from '@buildwave/stdio'
import type { Removal } from './remove.ts'

/** A removal as lines for a terminal. What a builder wrote is masked and escaped. */
export function removalAsText(record: AnyRecord): string {
  const removal = record as unknown as Removal
  const { run, removed, folder, bytes, containers, volumes, kept, uncollected, undelivered } = removal
  const list = (what: string, names: readonly string[]) =>
    names.length === 0
      ? []
      : [`  ${names.length} ${what}: ${names.slice(0, 6).join(', ')}${names.length > 6 ? ', …' : ''}`]
  return [
    `${run}: ${removed ? 'removed' : 'would go'}`,
    ...(folder === null ? [] : [`  ${folder} (${showSize(bytes)})`]),
    ...list('containers', containers),
    ...list('volumes', volumes),
    ...kept.map(({ name, reason }) => `  kept ${name}: ${reason}`),
    ...uncollected.map(({ item, attempt, reason }) => `  not collected: ${item}, attempt ${attempt}: ${reason}`),
    ...(undelivered.length === 0 ? [] : [`  not delivered: ${undelivered.join(', ')}`]),
  ]
    .map((line) => safeText(line))
    .join('\n')
}
