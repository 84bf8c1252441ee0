import { UserError } from '@buildwave/core'
import type { Agent } from './agent.ts'
import { claude } from './claude.ts'
import { codex } from './codex.ts'
import { command } from './command.ts'
import { script } from './script.ts'

const agents: readonly Agent[] = [claude, codex, command, script]

/** The names that `--agent` takes. */
export const agentNames: readonly string[] = agents.map((agent) => agent.name)

/** The adapter of that name. Throws UserError `unknown-agent` that names the nearest one. */
export function findAgent(name: string): Agent {
  const found = agents.find((agent) => agent.name === name)
  if (found !== undefined) return found
  const nearest = agentNames.toSorted((a, b) => distance(name, a) - distance(name, b))[0] ?? ''
  const close = distance(name, nearest) <= 2
  const hint = close ? `did you mean '${nearest}'?` : `the agents are ${agentNames.join(', ')}`
  throw new UserError('unknown-agent', `unknown agent '${name}'`, { hint })
}

/** How many single-letter edits turn one word into the other. */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (const [above, letter] of [...from].entries()) {
    const next = [above + 1]
    for (const [index, other] of [...to].entries()) {
      const replaced = (row[index] ?? 0) + (letter === other ? 0 : 1)
      next.push(Math.min(replaced, (row[index + 1] ?? 0) + 1, (next[index] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
