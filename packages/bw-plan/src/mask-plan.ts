import { maskText } from '@buildwave/secrets'
import type { Diagnostic, Reading } from './read/plan-item.ts'

/** The same items without credentials in what is said of them: records are kept, and shown to every builder. */
export function maskPlan(reading: Reading): Reading {
  const told: Diagnostic[] = []
  const items = reading.items.map((item) => {
    const text = maskText(item.text)
    const title = maskText(item.title)
    if (text === item.text && title === item.title) return item
    told.push({
      level: 'warning',
      kind: 'credential-in-plan',
      line: item.line,
      text: `item '${item.id}' holds a credential, which is masked; take it out of the plan`,
      id: item.id,
    })
    return { ...item, text, title }
  })
  return { ...reading, items, diagnostics: [...reading.diagnostics, ...told] }
}
