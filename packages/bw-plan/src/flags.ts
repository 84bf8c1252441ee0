import type { Flags } from '@buildwave/stdio'
import { formats } from './read/plan-item.ts'

export const planFlags = {
  repo: {
    type: 'string',
    value: 'DIR',
    env: 'BW_REPO',
    byDefault: 'the repository of this folder',
    help: 'the git repository to work on',
  },
  base: {
    type: 'string',
    value: 'REV',
    env: 'BW_BASE',
    byDefault: 'HEAD',
    help: 'the commit that everything starts from',
  },
  run: { type: 'string', value: 'ID', byDefault: 'from plan, base and items', help: 'the name of the run' },
  test: {
    type: 'string',
    value: 'CMD',
    env: 'BW_TEST',
    byDefault: 'configured, else found',
    help: 'the command that runs the tests',
  },
  image: { type: 'string', value: 'NAME', env: 'BW_IMAGE', byDefault: 'buildwave/base', help: 'the container image' },
  shared: {
    type: 'strings',
    value: 'GLOB',
    env: 'BW_SHARED',
    help: 'files that every item may add to; with those configured',
  },
  'max-parallel': { type: 'count', env: 'BW_MAX_PARALLEL', byDefault: '3', help: 'items in a wave' },
  format: { type: 'string', value: 'NAME', byDefault: 'recognised', help: `read the plan as ${formats.join(', ')}` },
  unknown: {
    type: 'string',
    value: 'alone|parallel|error',
    byDefault: 'alone',
    help: 'what becomes of an item that names no file',
  },
  'no-phases': { type: 'boolean', help: 'headings such as Phase 2 do not hold back what is below them' },
  'trust-markers': { type: 'boolean', help: 'an item marked [P] that names no file may run beside others' },
  'skip-optional': { type: 'boolean', help: 'leave optional items out, unless they are named' },
  owns: { type: 'strings', value: 'ITEM=GLOB', help: 'the files of an item (commas between), whatever the plan says' },
  after: {
    type: 'strings',
    value: 'ITEM=ITEM',
    help: 'what an item waits for (commas between; nothing for none), whatever the plan says',
  },
  type: { type: 'strings', value: 'ITEM=KIND', help: 'feature or bugfix, whatever the plan says' },
  from: {
    type: 'string',
    value: 'FILE',
    help: 'place these item records anew instead of reading a plan; - for stdin',
  },
  lint: { type: 'boolean', help: 'only say what is wrong with the plan' },
  json: { type: 'boolean', help: 'records, on a terminal too' },
} as const satisfies Flags
