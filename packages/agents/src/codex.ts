import { dirname, join } from 'node:path'
import { type Agent, type AgentCommand, agentFolder, type CommandOptions } from './agent.ts'
import { openCodexStream } from './codex-stream.ts'
import { locateBinary } from './locate.ts'

const triple = process.arch === 'arm64' ? 'aarch64-unknown-linux-musl' : 'x86_64-unknown-linux-musl'
const tokenVariable = 'BUILDWAVE_API_TOKEN'

/** Codex, as the folder of its npm platform package (the program and the ripgrep beside it). Measured with 0.171.0. */
export const codex: Agent = {
  name: 'codex',
  defaultModel: null,
  needs: { gateway: true },
  async locate(options) {
    const binary = await locateBinary(
      {
        program: 'codex',
        native: [],
        npm: { packages: [`@openai/codex-linux-${process.arch}`], path: `vendor/${triple}/bin/codex` },
        hint: 'name the binary of the npm platform package with --agent-bin (…/vendor/*/bin/codex)',
      },
      options,
    )
    const folder = dirname(binary)
    const vendored = folder.endsWith('/bin')
    return vendored
      ? { binary, mount: { from: dirname(folder), to: agentFolder }, inside: join(agentFolder, 'bin', 'codex') }
      : { binary, mount: { from: binary, to: `${agentFolder}/codex` }, inside: `${agentFolder}/codex` }
  },
  inputs: async () => [],
  command: codexCommand,
  openStream: openCodexStream,
  resultKey: async ({ settings }) => JSON.stringify(['codex', settings.model]),
}

function codexCommand({ settings, binary, gateway }: CommandOptions): AgentCommand {
  const argv = [
    binary ?? 'codex',
    'exec',
    '--json',
    '--skip-git-repo-check',
    '--ephemeral',
    '--ignore-user-config',
    '--dangerously-bypass-approvals-and-sandbox',
  ]
  if (settings.model !== null) argv.push('-m', settings.model)
  if (gateway !== null) {
    const provider = {
      name: 'gateway',
      base_url: `${gateway.url}/v1`,
      env_key: tokenVariable,
      wire_api: 'responses',
    }
    const fields = Object.entries(provider).map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    const bounds = ['request_max_retries=6', 'stream_max_retries=6']
    argv.push('-c', 'model_provider="gateway"')
    // Commands of the model have no use for it.
    argv.push('-c', `shell_environment_policy.exclude=["${tokenVariable}"]`)
    argv.push('-c', `model_providers.gateway={${[...fields, ...bounds].join(',')}}`)
  }
  argv.push('-')
  return { argv, env: gateway === null ? {} : { [tokenVariable]: gateway.token }, stdin: 'prompt' }
}
