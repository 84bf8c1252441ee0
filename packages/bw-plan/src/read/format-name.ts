import type { BoxBullet } from './boxes.ts'
import type { Draft, Source } from './draft.ts'
import type { Format } from './plan-item.ts'

/** The name of the format that a plan of boxes is in, by its ids and marks. It is told, and decides nothing else. */
export function formatOfBoxes(boxes: readonly BoxBullet[], drafts: readonly Draft[], { text }: Source): Format {
  const ids = drafts.flatMap(({ id }) => id ?? [])
  const share = (pattern: RegExp) => ids.length > 0 && ids.filter((id) => pattern.test(id)).length * 2 > ids.length
  if (share(/#\d+$/)) return 'github-tasklist'
  if (share(/^T\d{3,}$/)) return 'spec-kit'
  if (/^#\s+Story\s+\d/m.test(text) && boxes.some(({ text: title }) => /^(?:\*\*)?task\s+\d/i.test(title)))
    return 'bmad-story'
  if (
    /^\s*-?\s*_(?:Depends|Boundary):/m.test(text) ||
    drafts.some(({ marked, rawTitle }) => marked && /\(P\)/.test(rawTitle))
  )
    return 'cc-sdd'
  if (/^#\s+Implementation Plan\s*$/m.test(text) && share(/^\d+(?:\.\d+)*$/)) return 'kiro'
  return share(/^\d+\.\d+$/) ? 'openspec' : 'checklist'
}
