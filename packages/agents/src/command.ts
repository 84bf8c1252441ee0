import { UserError } from '@buildwave/core'
import type { Agent } from './agent.ts'
import { openScriptStream } from './script-stream.ts'

/** Any program of the builder's image, with the prompt file as its last argument. */
export const command: Agent = {
  name: 'command',
  defaultModel: null,
  needs: { gateway: false },
  locate: async ({ settings }) => {
    if (settings.command.length === 0) {
      throw new UserError('command-missing', "agent 'command' has no program", {
        hint: 'give the program and its arguments after --command',
      })
    }
    return { binary: null, mount: null, inside: null }
  },
  inputs: async () => [],
  command: ({ settings, promptPath }) => ({ argv: [...settings.command, promptPath], env: {}, stdin: 'none' }),
  openStream: openScriptStream,
  resultKey: async ({ settings }) => JSON.stringify(['command', ...settings.command]),
}
