/** How a plan's item stands: `skipped` (N/A, struck out) counts as done for whoever waits for it. */
export type ItemState = 'open' | 'in-progress' | 'done' | 'skipped'

/** One unit of work as the plan's text gives it, before anything is scheduled. */
export interface PlanItem {
  /** As written; an ordinal when no item has one, `L<line>` for one without among others. */
  id: string
  title: string
  /** The item's own text, for the one who does it. */
  text: string
  line: number
  type: 'feature' | 'bugfix'
  state: ItemState
  optional: boolean
  /** The plan says `[P]`: may run beside others. */
  marked: boolean
  labels: string[]
  phase: string | null
  /** Numbered siblings (2.1, 2.2) that stand for steps of one thing share the group `2`. */
  group: string | null
  /** Paths and globs as written, less line numbers and anchors. */
  owns: string[]
  ownsFrom: 'declared' | 'mentioned' | 'unknown'
  /** Ids that the plan names as dependencies. */
  after: string[]
  priority: number | null
}

export type DiagnosticLevel = 'error' | 'warning' | 'info'

/** Something to tell about a plan. `id` is the item it is about, `about` the subject in short. */
export interface Diagnostic {
  level: DiagnosticLevel
  kind: string
  line: number
  text: string
  id?: string
  about?: string
}

export interface Reading {
  format: Format
  items: PlanItem[]
  /** Ids that only hold others together, with the ids of the items in them. */
  groups: Map<string, string[]>
  /** The format says that its items run one after the other. */
  sequential: boolean
  diagnostics: Diagnostic[]
}

/** Every format that is recognised; `--format` takes these names. */
export const formats = [
  'checklist',
  'spec-kit',
  'kiro',
  'cc-sdd',
  'openspec',
  'bmad-story',
  'github-tasklist',
  'task-headings',
  'trae',
  'table',
  'step-headings',
  'numbered-list',
  'bullets',
  'cursor',
  'work-package',
  'task-master',
  'ralph',
  'beads',
] as const
export type Format = (typeof formats)[number] | 'none'
