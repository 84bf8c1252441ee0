import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compareTests, openRunRepo, openSuite, runTests, splitFlaky } from '@buildwave/checks'
import type { RunRecord, TestChanges } from '@buildwave/core'
import { type Engine, reap } from '@buildwave/engine'
import { importCommit, inspectSource } from '@buildwave/git'
import { runPaths } from '@buildwave/store'
import { checkHistory, type Evidence } from './evidence.ts'

/**
 * Checks evidence against a repository, perhaps on another machine: first that the history is the one that was verified, then
 * that its tests still say so, at the base and on the head, in containers of this machine. The repository is only read,
 * and nothing is left of the check. Throws UserError `evidence-mismatch` (status 4).
 */
export async function recheck(
  evidence: Evidence,
  { repo, engine, signal }: { repo: string; engine: () => Promise<Engine>; signal: AbortSignal },
): Promise<TestChanges> {
  const source = await inspectSource(repo)
  await checkHistory(source, evidence)
  const state = await mkdtemp(join(tmpdir(), 'bw-evidence-'))
  const run = runOf(evidence, source.top)
  const opened = await engine()
  try {
    const paths = runPaths(state, run.run)
    await mkdir(paths.dir, { recursive: true, mode: 0o700 })
    const store = await openRunRepo(run, paths)
    await importCommit(store, source, evidence.repository.oid)
    const suite = await openSuite({ run, paths, engine: opened, repo: store })
    const test = (commit: string, name: string) => ({ stage: 'bw-verify', name, commit, log: `${name}.log`, signal })
    const baseline = await runTests(suite, test(run.base, 'base'))
    const request = test(evidence.repository.oid, 'head')
    const now = await runTests(suite, request)
    const reference = { commit: run.base, result: baseline }
    return await splitFlaky(suite, { reference, now, changes: compareTests(baseline, now), request, slots: 1 })
  } finally {
    await reap(opened, { run: run.run, keep: () => false })
    await rm(state, { recursive: true, force: true })
  }
}

/** A run of its own, so that nothing of the one that made the evidence is touched. */
function runOf({ repository, test }: Evidence, repo: string): RunRecord {
  return {
    kind: 'run',
    v: 1,
    run: `evidence-${randomBytes(4).toString('hex')}`,
    repo,
    base: repository.base,
    branch: null,
    identity: null,
    test: test.command,
    testFrom: 'evidence',
    setup: test.setup,
    image: test.image,
    shared: [],
    limits: test.limits,
    plan: '',
    planDigest: '0'.repeat(64),
  }
}
