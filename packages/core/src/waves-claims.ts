/**
 * Which claims of a plan touch which. Two patterns can only meet when the literal folders one begins with are a beginning
 * of the other's, so patterns hang in a tree of folders and each is compared with what lies above and below it alone.
 */
import { globstar, type Pattern } from './glob.ts'
import type { Tree } from './glob-tree.ts'
import { type Claim, overlapClaims, readClaim } from './overlap.ts'
import { covers } from './overlap-cover.ts'

export type ClaimId = number

export interface ClaimTable {
  claims: readonly Claim[]
  /** For each claim, the claims that may touch its files, itself among them. */
  touching: readonly (readonly ClaimId[])[]
  /** For each list of globs, its claims. Globs that are wholly shared leave none. */
  ofOwner: readonly (readonly ClaimId[])[]
  /** Lists with a claim that could not be compared with all others within the bound. */
  isCrowded: readonly boolean[]
  /** How many pairs of claims were compared. */
  comparisons: number
}

interface ClaimRules {
  tree: Tree
  shared: readonly string[]
  /** Comparisons after which a claim near to others is no longer compared: its owner runs alone instead. */
  maxComparisons?: number
}

/** Reads and compares the claims of all owners (`!globs` among them are exclusions of that owner). */
export function tableClaims(
  owners: readonly (readonly string[])[],
  { tree, shared, maxComparisons = 1_000_000 }: ClaimRules,
): ClaimTable {
  const sharedPatterns = shared.flatMap((glob) => readClaim(glob).patterns)
  const claims: Claim[] = []
  const ids = new Map<string, ClaimId>()
  const ofOwner = owners.map((globs) => {
    const exclusions = globs.filter((glob) => glob.startsWith('!')).map((glob) => glob.slice(1))
    return globs.flatMap((glob) => {
      if (glob.startsWith('!')) return []
      const key = [glob, ...exclusions].join('\0')
      const known = ids.get(key)
      if (known !== undefined) return [known]
      const claim = readClaim(glob, { exclusions, tree })
      if (claim.patterns.every((pattern) => sharedPatterns.some((wide) => covers(wide, pattern)))) return []
      ids.set(key, claims.length)
      return [claims.push(claim) - 1]
    })
  })
  const { touching, crowded, comparisons } = compareClaims(claims, maxComparisons)
  const isCrowded = ofOwner.map((own) => own.some((id) => crowded.has(id)))
  return { claims, touching, ofOwner, isCrowded, comparisons }
}

interface Folder {
  here: ClaimId[]
  below: Map<string, Folder>
}

function compareClaims(claims: readonly Claim[], maxComparisons: number) {
  const touching: ClaimId[][] = claims.map((_, id) => [id])
  const crowded = new Set<ClaimId>()
  const top = newFolder()
  const named = { all: new Map<string, ClaimId[]>(), loose: new Map<string, ClaimId[]>() }
  let left = maxComparisons
  let comparisons = 0
  for (const [id, claim] of claims.entries()) {
    const near = nearClaims(claim, top, Math.max(0, left))
    for (const other of (claim.isLoose ? named.all : named.loose).get(claim.name ?? '') ?? []) near.add(other)
    left -= near.size
    if (left < 0 && near.size > 0) {
      crowded.add(id)
      continue
    }
    comparisons += near.size
    for (const other of near) {
      if (overlapClaims(claim, claims[other] as Claim) === null) continue
      touching[id]?.push(other)
      touching[other]?.push(id)
    }
    for (const pattern of claim.folded) folderOf(pattern, top).here.push(id)
    if (claim.name !== null) addTo(named.all, claim.name, id)
    if (claim.isLoose && claim.name !== null) addTo(named.loose, claim.name, id)
  }
  return { touching, crowded, comparisons }
}

function addTo(index: Map<string, ClaimId[]>, name: string, id: ClaimId): void {
  const same = index.get(name)
  if (same === undefined) index.set(name, [id])
  else same.push(id)
}

function nearClaims(claim: Claim, top: Folder, limit: number): Set<ClaimId> {
  const near = new Set<ClaimId>()
  for (const pattern of claim.folded) {
    let folder: Folder | undefined = top
    for (const name of literalFolders(pattern)) {
      for (const id of folder.here) near.add(id)
      folder = folder.below.get(name)
      if (folder === undefined) break
    }
    if (folder === undefined) continue
    if (pattern.literal !== null) for (const id of folder.here) near.add(id)
    else addBelow(folder, near, limit)
  }
  return near
}

function addBelow(folder: Folder, near: Set<ClaimId>, limit: number): void {
  const open = [folder]
  for (let at = open.pop(); at !== undefined && near.size <= limit; at = open.pop()) {
    for (const id of at.here) near.add(id)
    open.push(...at.below.values())
  }
}

function folderOf(pattern: Pattern, top: Folder): Folder {
  let folder = top
  for (const name of literalFolders(pattern)) {
    const below = folder.below.get(name) ?? newFolder()
    folder.below.set(name, below)
    folder = below
  }
  return folder
}

/** The names that a pattern surely begins with; all of them when it is literal. */
function literalFolders({ segments }: Pattern): string[] {
  const end = segments.findIndex((segment) => segment === globstar || typeof segment !== 'string')
  return (end === -1 ? segments : segments.slice(0, end)) as string[]
}

function newFolder(): Folder {
  return { here: [], below: new Map() }
}
