import type { StreamReader } from './events.ts'

/** What a user chose for a run's agent. */
export interface AgentSettings {
  /** Null takes the adapter's default. */
  model: string | null
  /** `--agent-bin`: the program on this host. */
  agentBin: string | null
  /** `--script`: the folder of scripts, for `script`. */
  scriptDir: string | null
  /** `--command`: program and arguments, for `command`. */
  command: readonly string[]
  /** Passed to agents that can keep it themselves; the gateway enforces it for all. */
  maxTurns: number | null
}

/** The way to the model API as the builder sees it: a loopback address, and a token that is worth nothing elsewhere. */
export interface GatewayAddress {
  url: string
  token: string
}

export interface CommandOptions {
  settings: AgentSettings
  /** The agent's program inside the builder (`Located.inside`), null where the adapter needs none. */
  binary: string | null
  /** The prompt file inside the builder. */
  promptPath: string
  /** A text file inside the builder with the repository's own guidance (its CLAUDE.md or AGENTS.md), null for none. */
  guidancePath: string | null
  /** Null exactly when `needs.gateway` is false. */
  gateway: GatewayAddress | null
}

export interface AgentCommand {
  argv: string[]
  /** Added to the builder's allow-list of variables. Holds no credential but the attempt's own token. */
  env: Record<string, string>
  /** `prompt`: the prompt file is the program's stdin; `none`: stdin is `/dev/null`. */
  stdin: 'prompt' | 'none'
}

export interface LocateOptions {
  settings: AgentSettings
  env: Readonly<Record<string, string | undefined>>
  /** Throws for a path that must not be touched; called before the first system call on each. */
  guard(path: string): void
}

export interface Located {
  /** The program on this host, null when the adapter needs none. */
  binary: string | null
  /** What is mounted read-only into the builder, and where; null for nothing. */
  mount: { from: string; to: string } | null
  /** The program's path inside the builder. */
  inside: string | null
}

export interface ForItem {
  settings: AgentSettings
  item: string
  attempt: number
}

export interface Agent {
  name: string
  defaultModel: string | null
  needs: { gateway: boolean }
  /** Finds the program on this host. Throws UserError `agent-not-found` or `agent-unusable`. */
  locate(options: LocateOptions): Promise<Located>
  /** Files for the attempt's read-only input folder, beside the prompt: `name` in `/bw/in`, `from` on this host. */
  inputs(options: ForItem): Promise<{ name: string; from: string }[]>
  command(options: CommandOptions): AgentCommand
  openStream(): StreamReader
  /** What of the settings decides the work's result, as text for a digest. */
  resultKey(options: ForItem): Promise<string>
}

/** Where the agent's program is mounted in a builder, and where its input folder is. */
export const agentFolder = '/bw/agent'
export const inputFolder = '/bw/in'
