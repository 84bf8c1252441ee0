import { type ExitStatus, exit, UserError } from '@buildwave/core'
import { startGateway } from '@buildwave/gateway'
import { defineTool, runTool } from '@buildwave/stdio'
import { settingsFrom } from './gateway.ts'

const tool = defineTool({
  name: 'bw-gateway',
  summary: "is the builders' only way out: holds the credential and passes nothing but the model API",
  usage: ['bw-gateway --run RUN [--api anthropic|openai] [--token-file FILE] [options]'],
  examples: [
    ['bw-gateway --run plan-1a2b3c4d', 'what bw-spawn starts by itself; ends when no stage and no builder is left'],
    ['jq -c "select(.event==\\"refused\\")" RUN/gateway.ndjson', 'what builders asked for and did not get'],
  ],
  flags: {
    run: { type: 'string', value: 'RUN', help: 'the run it serves', env: 'BW_RUN' },
    'run-dir': { type: 'string', value: 'DIR', help: "the run's folder, instead of --run" },
    api: { type: 'string', value: 'NAME', help: 'anthropic or openai', byDefault: 'anthropic' },
    'token-file': {
      type: 'string',
      value: 'FILE',
      help: 'a file of mode 600 with an OAuth token or an API key',
      env: 'BW_TOKEN_FILE',
      byDefault: '~/.config/buildwave/token',
    },
    upstream: { type: 'string', value: 'URL', help: "instead of the API's own address", env: 'BW_UPSTREAM' },
    'allow-host': { type: 'strings', value: 'NAME:PORT', help: 'let builders connect there (may be repeated)' },
    'max-tokens': { type: 'count', value: 'N', help: 'for each item: input, output and cache writes together' },
    'max-usd': { type: 'number', value: 'X', help: 'for each item, where the price of the model is known' },
    'max-turns': { type: 'count', value: 'N', help: 'for each item: replies of the model' },
    'max-run-tokens': { type: 'count', value: 'N', help: 'for the whole run' },
    'max-run-usd': { type: 'number', value: 'X', help: 'for the whole run' },
    'max-run-turns': { type: 'count', value: 'N', help: 'for the whole run' },
    patience: {
      type: 'number',
      value: 'SECONDS',
      help: 'how long an overloaded or limited API is waited for before agents are told',
      byDefault: '1200',
    },
    grace: { type: 'number', value: 'SECONDS', help: 'how long it stays when nobody is left', byDefault: '10' },
  },
  reads: 'the token file, at the start and with each lease',
  writes: 'one line when it listens: {"ready":true,"socketDir":…}; RUN/gateway.ndjson',
  async run({ flags, args, io }) {
    if (args[0] !== undefined)
      throw new UserError('bad-arguments', `unexpected argument '${args[0]}'`, { hint: 'see --help' })
    const gateway = await startGateway(settingsFrom(flags, io))
    let status: ExitStatus = exit.ok
    const forget = io.onSignal((signal) => {
      status = signal === 'SIGINT' ? exit.interrupted : exit.terminated
      gateway?.stop()
    })
    // Whoever started it reads this line and goes away.
    io.stdout.on('error', () => undefined)
    io.stdout.write(`${JSON.stringify({ ready: true, socketDir: gateway?.socketDir ?? null })}\n`)
    await gateway?.ended
    forget()
    return status
  },
})

await runTool(tool)
