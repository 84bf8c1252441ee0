import { type DeliveryRecord, exit, UserError } from '@buildwave/core'
import { deliverRef, inspectSource, openStore, readRef, refConflicts, type Source, type Store } from '@buildwave/git'
import type { Stage } from '@buildwave/stage'
import { writeEvidence } from './evidence.ts'
import { checkHead, itemsLeft, type Passed } from './gate.ts'
import { type Ledger, readLedger } from './ledger.ts'

export interface DeliverSettings {
  partial: boolean
  dryRun: boolean
}

/** What is delivered where. */
export interface DeliveryPlan {
  source: Source
  branch: string
  ref: string
  oid: string
  base: string
  delivered: string[]
  left: DeliveryRecord['left']
}

export interface Delivered {
  plan: DeliveryPlan
  store: Store
  /** False when the repository had the branch already. */
  isNew: boolean
}

/**
 * Delivers the verified head once the whole input is in: the evidence file first, then objects and ref, then the record. A
 * delivery that was made before is passed on. Throws UserError when the head, an item or the repository stands against it;
 * status 5 when a chosen item is missing and `partial` is not set.
 */
export async function deliverHead(stage: Stage, settings: DeliverSettings): Promise<Delivered> {
  const ledger = await readLedger(stage)
  const store = openStore(stage.paths.repo)
  const passed = await checkHead(stage, ledger, store)
  const left = itemsLeft(stage, ledger)
  const missing = left.filter(({ isMissing }) => isMissing)
  if (missing.length > 0 && !settings.partial) throw missingItems(missing)
  const plan = await planDelivery(stage, passed, left)
  if (settings.dryRun) return { plan, store, isNew: await checkRef(plan) }
  return { plan, store, isNew: await deliver(stage, { plan, store, passed, ledger }) }
}

async function planDelivery(
  stage: Stage,
  { integration }: Passed,
  left: readonly { item: string; reason: string }[],
): Promise<DeliveryPlan> {
  const { run } = stage
  const branch = `builders/${run.run}`
  return {
    source: await inspectSource(run.repo),
    branch,
    ref: `refs/heads/${branch}`,
    oid: integration.head,
    base: run.base,
    delivered: integration.items.map(({ item }) => item),
    left: left.map(({ item, reason }) => ({ item, reason })),
  }
}

async function deliver(
  stage: Stage,
  { plan, store, passed, ledger }: { plan: DeliveryPlan; store: Store; passed: Passed; ledger: Ledger },
): Promise<boolean> {
  const { source, ref, oid, base, delivered, left } = plan
  const known = knownDelivery(stage, plan)
  if (known === undefined) await writeEvidence(stage, { plan, passed, ledger })
  stage.interrupt.stopping.throwIfAborted()
  // The branch that is there already is no effect to repeat.
  if (await checkRef(plan)) stage.intend('deliver', { repo: source.top, ref, from: null, to: oid })
  const isNew = await deliverRef(source, store, { ref, oid, base })
  if (known !== undefined) {
    await stage.passOn(known)
    return isNew
  }
  const record: DeliveryRecord = {
    kind: 'delivery',
    v: 1,
    run: stage.run.run,
    at: new Date().toISOString(),
    ref,
    oid,
    base,
    delivered,
    left,
    evidence: stage.paths.evidence,
  }
  await stage.emit(record)
  return isNew
}

/** The record of the same delivery, when the journal has it. */
function knownDelivery({ journal, again }: Stage, { ref, oid, left }: DeliveryPlan) {
  journal.refresh()
  return again
    ? undefined
    : journal.records().findLast((record) => {
        const isSame = record['ref'] === ref && record['oid'] === oid
        return record.kind === 'delivery' && isSame && JSON.stringify(record['left']) === JSON.stringify(left)
      })
}

/** What `deliverRef` would refuse, without writing; true when the ref is not there yet. */
async function checkRef({ source, ref, oid, branch }: DeliveryPlan): Promise<boolean> {
  const held = await readRef(source, ref)
  if (held !== null && held !== oid)
    throw new UserError('ref-exists', `'${branch}' is there and holds ${held}`, {
      hint: `git branch -D ${branch}, or plan under another name: bw-plan --run NAME`,
    })
  const [other] = await refConflicts(source, ref)
  if (other !== undefined)
    throw new UserError('ref-conflict', `'${branch}' cannot be made beside '${other}'`, { hint: `rename '${other}'` })
  return held === null
}

function missingItems(missing: readonly { item: string; reason: string }[]): UserError {
  const named = missing.slice(0, 8).map(({ item, reason }) => `${item} (${reason})`)
  const more = missing.length > 8 ? ` and ${missing.length - 8} more` : ''
  return new UserError('items-missing', `not on the branch: ${named.join(', ')}${more}`, {
    status: exit.problem,
    hint: '--partial delivers without them; bw-merge --skip ITEM leaves one out for good',
  })
}
