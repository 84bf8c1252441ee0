import type { Api, Bounds } from './rules.ts'

export interface GatewayOptions {
  /** The run's folder: its key and its log (`gateway.key`, `gateway.ndjson`) are kept there. */
  runDir: string
  /** How `bw-gateway` is started: program and first arguments. */
  program: readonly string[]
  api: Api
  /** A file of mode 600 with the credential; read by the gateway's process only. */
  tokenFile: string
  /** Instead of the API's own address. */
  upstream: string | null
  /** `NAME:PORT` that builders may reach through CONNECT. */
  allowHosts: readonly string[]
  bounds: { item: Bounds; run: Bounds }
  env: Readonly<Record<string, string | undefined>>
}

/** A lease on the run's gateway: it lives as long as one of these or one relay is connected. */
export interface Gateway {
  /** Mounted read-only into holders, and only there. */
  socketDir: string
  /** The loopback port for the relay, the same for all builders of this lease. */
  port: number
  /** What the adapter of an attempt needs: a loopback address and the attempt's own token. */
  addressFor(item: string, attempt: number): { url: string; token: string }
  /** Proxy variables for what `--allow-host` opens; empty when nothing is allowed. */
  proxyFor(item: string, attempt: number): Record<string, string>
  state(): Promise<GatewayState>
  /** Gives the lease back. The gateway ends by itself soon after the last one. */
  close(): void
}

export interface GatewayState {
  /** Until when requests are parked, ISO 8601 UTC; null when they are not. New builders are better not started before. */
  parkedUntil: string | null
  /** Why: `rate-limit`, `overloaded` or `usage-limit`. */
  parkedFor: string | null
  /** By item: what was used so far. `costUsd` is null when a model's price is unknown. */
  items: Record<string, Used>
}

export interface Used {
  turns: number
  tokens: { input: number; output: number; cacheRead: number; cacheWrite: number }
  costUsd: number | null
}

/** The run's gateway, started when there is none. Throws UserError with the gateway's own words when it cannot start. */
export async function gatewayFor(options: GatewayOptions): Promise<Gateway> {
  throw new Error(`not written yet: ${options.runDir}`)
}
