import { exit, UserError } from '@buildwave/core'
import { connect, listImages } from '@buildwave/engine'
import { inspectSource } from '@buildwave/git'
import { defineTool, runTool } from '@buildwave/stdio'
import { cacheDir, protectedPrefixes, readUserConfig, refuseProtected } from '@buildwave/store'
import { makeBase } from './base.ts'
import { makeHolder } from './holder.ts'
import { makeProject, projectDockerfile } from './project.ts'

const tool = defineTool({
  name: 'bw-image',
  summary: 'makes the images that builders and checks run in',
  usage: [
    'bw-image [--bootstrap]                    make the base image and the holder image',
    'bw-image --project REPO [--base REV]      make a project image and print its name',
    'bw-image --list                           list the images that are there',
  ],
  examples: [
    ['bw-image --bootstrap', "no registry can be reached: use the distribution's packages"],
    ['bw-plan PLAN.md --image "$(bw-image --project .)" | bw-spawn | bw-watch', 'build with what the project needs'],
  ],
  flags: {
    bootstrap: { type: 'boolean', help: "make the base image from the distribution's packages, without a registry" },
    project: { type: 'string', value: 'REPO', help: `build '${projectDockerfile}' of this repository` },
    base: {
      type: 'string',
      value: 'REV',
      help: 'the commit whose tree the project image is made of',
      byDefault: 'HEAD',
    },
    list: { type: 'boolean', help: 'list the images on the engine: name, id, bytes, made at' },
  },
  reads: 'nothing',
  writes: 'the name of the project image, or the list, one image a line; otherwise nothing',
  async run({ flags, args, io, say }) {
    if (args.length > 0)
      throw new UserError('bad-arguments', `nothing is done with '${args[0]}'`, { hint: 'see --help' })
    if (flags.base !== undefined && flags.project === undefined) {
      throw new UserError('bad-arguments', "'--base' needs '--project'")
    }
    const repo = flags.project
    if (repo !== undefined) {
      const prefixes = protectedPrefixes(readUserConfig(io.env).protectedPaths ?? [], io.env)
      refuseProtected(repo, 'repository', { cwd: io.cwd, prefixes })
    }
    const engine = await connect()
    if (flags.list) {
      for (const { name, id, size, created } of await listImages(engine)) {
        io.stdout.write(`${[name, id, size, created].join('\t')}\n`)
      }
      return exit.ok
    }
    await makeBase(engine, { bootstrap: flags.bootstrap, cacheDir: cacheDir(io.env), note: say.note })
    await makeHolder(engine, say.note)
    if (repo === undefined) return exit.ok
    const source = await inspectSource(repo)
    const onOutput = (text: string) => void io.stderr.write(text)
    io.stdout.write(`${await makeProject(engine, { repo: source, base: flags.base ?? 'HEAD', onOutput })}\n`)
    return exit.ok
  },
})

await runTool(tool)
