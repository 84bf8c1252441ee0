import type { Agent } from './agent.ts'

/** The adapter of that name. Throws UserError `unknown-agent` that names the nearest one. */
export function findAgent(name: string): Agent {
  throw new Error(`not written yet: ${name}`)
}
