import type { Tree } from '@buildwave/core'
import type { Body, Placed } from './body.ts'
import type { Diagnostic, ItemState } from './plan-item.ts'
import type { Reference } from './references.ts'

/** An item as a reader of one format leaves it; `finishItems` makes plan items of them. */
export interface Draft {
  id: string | null
  title: string
  /** The source of the title, marks and all. */
  rawTitle: string
  text: string
  line: number
  state: ItemState
  optional: boolean
  marked: boolean
  labels: string[]
  phase: string | null
  priority: number | null
  /** What the format itself says it is, `bug` say. */
  type: string | null
  body: Body
  /** Ids that the format states outright; they are resolved like references of the text. */
  after: Placed<Reference>[]
  /** The draft that this one is a part of: that one becomes a group. */
  parent: Draft | null
  /** Holds others together and is no item, whatever it holds. */
  isContainer: boolean
}

/** What a reader of a format gets. */
export interface Source {
  name: string
  text: string
  lines: readonly string[]
  tree: Tree
}

export interface Drafts {
  drafts: Draft[]
  diagnostics: Diagnostic[]
}

export function newDraft(parts: Partial<Draft> & Pick<Draft, 'line' | 'title' | 'body'>): Draft {
  return {
    id: null,
    rawTitle: parts.title,
    text: parts.title,
    state: 'open',
    optional: false,
    marked: parts.body.marked,
    labels: [],
    phase: null,
    priority: parts.body.priority,
    type: parts.body.type,
    after: [],
    parent: null,
    isContainer: false,
    ...parts,
  }
}
