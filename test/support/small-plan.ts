/** A small repository with a plan of three items and what a stand-in agent does for each, quick to run. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeRepository, temporaryFolder } from './repository.ts'

export interface SmallPlan {
  repo: string
  scripts: string
  state: string
  env: Record<string, string>
}

/** What the tests of the small repository are: every *.txt file must hold the word `good`. */
const check = 'for file in *.txt; do grep -q good "$file" || { echo "$file is bad"; exit 1; }; done\n'

export const threeItems = [
  '- [ ] 1. Write `one.txt`',
  '- [ ] 2. Write `two.txt`',
  '- [ ] 3. Write `three.txt` (depends on 1)',
]

export const threeScripts = {
  '1.sh': 'echo good one > one.txt\n',
  '2.sh': 'echo good two > two.txt\n',
  '3.sh': 'cat one.txt > three.txt\n',
}

/** Lays it out in a fresh folder. `scripts` are files of the script agent, by name. */
export function makeSmallPlan({
  plan = threeItems,
  scripts = threeScripts as Record<string, string>,
  files = {} as Record<string, string>,
  stateName = 'state',
} = {}): SmallPlan {
  const place = temporaryFolder()
  const repo = makeRepository(
    { 'PLAN.md': `${plan.join('\n')}\n`, 'check.sh': check, 'start.txt': 'good start\n', ...files },
    join(place, 'repo'),
  )
  const folder = join(place, 'scripts')
  mkdirSync(folder)
  for (const [name, content] of Object.entries(scripts)) writeFileSync(join(folder, name), content)
  const state = join(place, stateName)
  return { repo, scripts: folder, state, env: { BW_STATE_DIR: state, HOME: join(place, 'home') } }
}
