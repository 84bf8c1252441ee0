import { exit } from '@buildwave/core'
import { defineTool, runTool } from '@buildwave/stdio'
import { jsonSchemaOf, schemaNames } from './schema.ts'

const tool = defineTool({
  name: 'bw-schema',
  summary: 'prints the JSON Schema of a record kind or a configuration file',
  usage: ['bw-schema            list what has a schema', 'bw-schema KIND       print its JSON Schema'],
  examples: [
    ['bw-schema item | jq .required', 'the fields that an item record must have'],
    ['bw-schema config', 'what .claude/buildwave.json may hold'],
  ],
  flags: {},
  reads: 'nothing',
  writes: 'names, or one JSON Schema (draft 2020-12)',
  async run({ args, io }) {
    const text = args[0] === undefined ? schemaNames.join('\n') : JSON.stringify(jsonSchemaOf(args[0]), null, 2)
    io.stdout.write(`${text}\n`)
    return exit.ok
  },
})

await runTool(tool)
