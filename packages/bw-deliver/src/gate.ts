/** What must be true before anything is written to the user's repository. */
import {
  exit,
  type IntegrationRecord,
  type PatchRecord,
  type ScanRecord,
  UserError,
  type VerificationRecord,
} from '@buildwave/core'
import { checkPatch, commitTreeOid, listCommits, readRef, type Store } from '@buildwave/git'
import type { Stage } from '@buildwave/stage'
import { checkHistory } from './history.ts'
import { attemptName, type Ledger, lastMerge } from './ledger.ts'

/** An item of the head with what was found about it. */
export interface Checked {
  item: string
  attempt: number
  commit: string
  patch: PatchRecord
  scan: ScanRecord
}

export interface Passed {
  integration: IntegrationRecord
  verification: VerificationRecord
  items: Checked[]
}

/** Throws UserError when the head may not be delivered: 1 when a stage is missing, 4 for unusable objects, 5 for a bad verdict. */
export async function checkHead(stage: Pick<Stage, 'run'>, ledger: Ledger, store: Store): Promise<Passed> {
  const { run } = stage
  const { integration } = ledger
  const hint = `run bw-merge --run ${run.run}, then bw-verify --run ${run.run}`
  if (integration === undefined)
    throw new UserError('nothing-to-deliver', 'no integration record in the input', { hint })
  if (integration.items.length === 0) {
    throw new UserError('nothing-to-deliver', 'no item is on the branch', {
      status: exit.problem,
      hint: `bw-merge --run ${run.run} says why each one is not`,
    })
  }
  const verification = verificationOf(ledger, integration, hint)
  await checkCommits(stage, { integration, verification, store })
  const items = integration.items.map((entry) => checkItem(ledger, entry))
  for (const { patch } of items) await checkPatch(store, patch.commit ?? '', patch.digest ?? '')
  await checkHistory(store, { base: run.base, head: integration.head, items })
  return { integration, verification, items }
}

/** The items that are not in the head; `isMissing` unless a person left them out. */
export function itemsLeft(
  stage: Pick<Stage, 'items'>,
  ledger: Ledger,
): { item: string; reason: string; isMissing: boolean }[] {
  const inside = new Set(ledger.integration?.items.map(({ item }) => item))
  const left = stage.items().filter(({ item, done }) => !done && !inside.has(item))
  return left.map(({ item }) => {
    const merge = lastMerge(ledger, item)
    const reason = merge === undefined ? 'never-came' : (merge.reason ?? merge.outcome)
    return { item, reason, isMissing: reason !== 'skipped-by-user' && reason !== 'dropped-by-user' }
  })
}

/** Only a verdict on exactly this commit counts. */
function verificationOf(
  { verifications }: Ledger,
  { head, tree }: IntegrationRecord,
  hint: string,
): VerificationRecord {
  const found = verifications.findLast((record) => record.head === head && record.tree === tree)
  if (found === undefined) throw new UserError('unverified', `head '${head}' was never verified`, { hint })
  if (found.verdict === 'green') return found
  const who = found.culprits.length === 0 ? '' : ` because of ${found.culprits.join(' and ')}`
  throw new UserError('not-green', `head '${head}' is red${who}`, {
    status: exit.problem,
    hint: 'bw-merge --drop ITEM takes an item out; then verify again',
  })
}

/** The ref of the run, the integration and its commits must be the same thing, down to the base. */
async function checkCommits(
  { run }: Pick<Stage, 'run'>,
  {
    integration,
    verification,
    store,
  }: { integration: IntegrationRecord; verification: VerificationRecord; store: Store },
): Promise<void> {
  const { head, items } = integration
  const held = await readRef(store, `refs/heads/builders/${run.run}`)
  if (held !== head) {
    throw new UserError('stale-head', `the branch of the run is at ${held ?? 'nothing'}, not at the verified ${head}`, {
      hint: `run bw-verify --run ${run.run} again`,
    })
  }
  const commits = await listCommits(store, run.base, head)
  const isSame = commits.join() === items.map(({ commit }) => commit).join()
  if (isSame && (await commitTreeOid(store, head)) === verification.tree) return
  throw new UserError('object-unusable', `head '${head}' does not consist of what was merged`, {
    status: exit.unusable,
  })
}

function checkItem(ledger: Ledger, { item, attempt, commit }: IntegrationRecord['items'][number]): Checked {
  const name = attemptName(item, attempt)
  const [patch, scan, merge] = [ledger.patches.get(name), ledger.scans.get(name), ledger.merges.get(name)]
  const why =
    patch === undefined || patch.verdict !== 'ok'
      ? 'its patch is blocked'
      : scan?.verdict !== 'clean'
        ? `its scan says ${scan?.verdict ?? 'nothing'}`
        : merge?.outcome !== 'applied' || merge.commit !== commit
          ? 'its merge record says otherwise'
          : null
  if (why === null && patch !== undefined && scan !== undefined) return { item, attempt, commit, patch, scan }
  throw new UserError('blocked-item', `'${item}' is on the branch, but ${why}`, {
    status: exit.problem,
    hint: `bw-merge takes it out: bw-merge --drop ${item}`,
  })
}
