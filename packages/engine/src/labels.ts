import type { Engine } from './connect.ts'

/** The labels that every container and volume of ours carries. Clean-up goes by these, never by name or pid. */
export const labels = {
  run: 'dev.buildwave.run',
  item: 'dev.buildwave.item',
  attempt: 'dev.buildwave.attempt',
  stage: 'dev.buildwave.stage',
  expires: 'dev.buildwave.expires',
  owner: 'dev.buildwave.owner',
  /** The id of the state folder that the run is kept in. */
  state: 'dev.buildwave.state',
  role: 'dev.buildwave.role',
  /** Seconds that an attempt has from its holder's start. */
  ttl: 'dev.buildwave.ttl',
} as const

/** What a container or volume of ours is for. */
export type Role =
  | 'holder'
  | 'builder'
  | 'upper'
  | 'work'
  | 'collector'
  | 'check'
  | 'filler'
  | 'canary'
  | 'layer'
  | 'seal'

/** What is known about a new container or volume. */
export interface Identity {
  role: Role
  stage: string
  run?: string
  item?: string
  attempt?: number
  /** ISO 8601: when it has ended by itself at the latest. */
  expires?: string
}

/** The labels of a new container or volume. */
export function labelled(engine: Engine, identity: Identity): Record<string, string> {
  return {
    [labels.owner]: engine.owner,
    [labels.state]: engine.state,
    [labels.role]: identity.role,
    [labels.stage]: identity.stage,
    ...(identity.run !== undefined && { [labels.run]: identity.run }),
    ...(identity.item !== undefined && { [labels.item]: identity.item }),
    ...(identity.attempt !== undefined && { [labels.attempt]: String(identity.attempt) }),
    ...(identity.expires !== undefined && { [labels.expires]: identity.expires }),
  }
}

/** The moment, ISO 8601, until which something with `seconds` to live can be there; 10 seconds are for ending it. */
export function expiry(seconds: number): string {
  return new Date(Date.now() + (seconds + 10) * 1000).toISOString()
}
