/** The exit statuses of every tool, in the order in which they are printed by `--help`. */
export const exit = {
  ok: 0,
  failed: 1,
  timedOut: 2,
  conflict: 3,
  unusable: 4,
  problem: 5,
  interrupted: 130,
  terminated: 143,
} as const

export type ExitStatus = (typeof exit)[keyof typeof exit]

/** Which status wins when a stage met several: an own failure, then unusable objects, conflicts, problems. */
const bySeverity: readonly ExitStatus[] = [143, 130, 1, 4, 3, 5, 2, 0]

/** The worst of the statuses, 0 for none. */
export function worstExit(statuses: Iterable<ExitStatus>): ExitStatus {
  const seen = new Set(statuses)
  return bySeverity.find((status) => seen.has(status)) ?? exit.ok
}

/** The lines that every `--help` ends with. */
export const exitHelp = [
  '0    ok',
  '1    the tool failed or the arguments were wrong (never a test result)',
  '2    a wait timed out',
  '3    merge conflict',
  '4    a patch or object could not be used (checksum, corrupt, missing)',
  '5    a check found a problem (build, tests, scope, secret, item missing)',
  '130  interrupted (143 when terminated)',
] as const
