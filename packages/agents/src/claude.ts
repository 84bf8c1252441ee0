import { type Agent, type AgentCommand, agentFolder, type CommandOptions } from './agent.ts'
import { openClaudeStream } from './claude-stream.ts'
import { locateBinary } from './locate.ts'

const inside = `${agentFolder}/claude`

/** Claude Code, as one binary mounted into the builder. Flags and variables were measured with 2.1.332. */
export const claude: Agent = {
  name: 'claude',
  defaultModel: 'sonnet',
  needs: { gateway: true },
  async locate(options) {
    const binary = await locateBinary(
      {
        program: 'claude',
        native: ['.local/bin/claude'],
        npm: { packages: [`@anthropic-ai/claude-code-linux-${process.arch}`], path: 'claude' },
        hint: 'install Claude Code (claude.ai/install), or name the binary with --agent-bin',
      },
      options,
    )
    return { binary, mount: { from: binary, to: inside }, inside }
  },
  inputs: async () => [],
  command: claudeCommand,
  openStream: openClaudeStream,
  resultKey: async ({ settings }) => JSON.stringify(['claude', settings.model ?? 'sonnet', settings.maxTurns]),
}

/**
 * `--setting-sources user` and `--strict-mcp-config` keep a checked-out repository from redirecting the API, running hooks
 * and starting servers; its CLAUDE.md is then not read either, so it comes as a file of ours.
 */
function claudeCommand({ settings, binary, guidancePath, gateway }: CommandOptions): AgentCommand {
  const argv = [
    binary ?? 'claude',
    '-p',
    '--output-format',
    'stream-json',
    '--verbose',
    '--dangerously-skip-permissions',
    '--setting-sources',
    'user',
    '--strict-mcp-config',
    '--model',
    settings.model ?? 'sonnet',
  ]
  if (settings.maxTurns !== null) argv.push('--max-turns', String(settings.maxTurns))
  if (guidancePath !== null) argv.push('--append-system-prompt-file', guidancePath)
  return { argv, env: claudeEnv(gateway), stdin: 'prompt' }
}

function claudeEnv(gateway: CommandOptions['gateway']): Record<string, string> {
  return {
    // The gateway fits the request to the real credential, so the builder always speaks as a subscription's token does:
    // that variable is the one that Claude Code takes out of its children's environment.
    ...(gateway === null ? {} : { ANTHROPIC_BASE_URL: gateway.url, CLAUDE_CODE_OAUTH_TOKEN: gateway.token }),
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    // A background command would hold the process open for up to 600 s after its result.
    CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: '1',
    // The gateway waits for the API; these are for the gateway's own restart.
    CLAUDE_CODE_MAX_RETRIES: '6',
  }
}
