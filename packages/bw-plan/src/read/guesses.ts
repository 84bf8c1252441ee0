/** Plans without boxes or headings for items: a list under a heading that sounds like a plan. A guess, and told as one. */
import { entriesOf, paragraphEntries, readBody } from './body.ts'
import { type Draft, newDraft, type Source } from './draft.ts'
import { dedent } from './item-text.ts'
import type { BulletList, Node } from './markdown-nodes.ts'
import { phaseOf, plain, walkSections } from './sections.ts'
import { cleanTitle, firstSentence, headline } from './title.ts'

const planLike =
  /^(?:(?:implementation |development |action |execution )?(?:plan|steps?|tasks?|to-?dos?|roadmap|work(?: items)?)|implementation|changes|files to (?:change|modify|create|edit)|what to do|next steps|步骤|计划|schritte|étapes|pasos)\b/i

/** The items of the lists under such headings, either the numbered or the bulleted ones. */
export function draftListed(nodes: readonly Node[], source: Source, { numbered }: { numbered: boolean }): Draft[] {
  const drafts: Draft[] = []
  walkSections(nodes, (node, { headings }) => {
    const nearest = headings.at(-1)
    if (node.type !== 'list' || nearest === undefined || !planLike.test(plain(nearest.text))) return
    if (/^\d/.test(node.items[0]?.marker ?? '') === numbered) drafts.push(...draftList(node, source, phaseOf(headings)))
  })
  return drafts
}

function draftList(list: BulletList, source: Source, phase: string | null): Draft[] {
  return list.items.flatMap((bullet) => {
    const [first, ...rest] = bullet.nodes
    if (first?.type !== 'paragraph') return []
    const rawTitle = firstSentence(first.text)
    const own = paragraphEntries(first.text, bullet.line, { kind: 'bullet', depth: 0 })
    const entries = own.map((entry, at) => (at === 0 ? { ...entry, kind: 'title' as const, text: rawTitle } : entry))
    const number = /^\d+/.exec(bullet.marker)?.[0]
    return [
      newDraft({
        id: number === undefined ? null : String(Number(number)),
        title: cleanTitle(headline(first.text)),
        rawTitle,
        text: dedent(source.lines.slice(bullet.line - 1, bullet.endLine)),
        line: bullet.line,
        phase,
        body: readBody([...entries, ...entriesOf(rest)], { tree: source.tree }),
      }),
    ]
  })
}
