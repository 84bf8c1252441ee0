/**
 * The environment and settings of every git process. Settings go into the command scope (`GIT_CONFIG_COUNT`), the only
 * one that wins over a repository's own config: a config file of ours would lose against the `core.hooksPath` or
 * `core.logAllRefUpdates` that stands in the user's `.git/config`. That scope does not reach a transport's far side
 * (`upload-pack`), which is one reason why no call here uses a transport; objects travel as packs instead.
 */

/** Settings that hold in every call, whatever the user, the system or the repository says. */
const settings: readonly (readonly [string, string])[] = [
  // Nothing of anybody else's runs.
  ['core.hooksPath', '/dev/null'],
  ['core.fsmonitor', 'false'],
  ['core.pager', 'cat'],
  ['core.sshCommand', 'false'],
  ['core.askPass', ''],
  ['credential.helper', ''],
  ['protocol.allow', 'never'],
  ['log.showSignature', 'false'],
  ['commit.gpgSign', 'false'],
  ['tag.gpgSign', 'false'],
  // Nothing is written that was not asked for.
  ['core.logAllRefUpdates', 'false'],
  ['core.untrackedCache', 'false'],
  ['gc.auto', '0'],
  ['gc.autoDetach', 'false'],
  ['maintenance.auto', 'false'],
  ['pack.writeReverseIndex', 'false'],
  ['submodule.recurse', 'false'],
  // Bytes stay what they are.
  ['core.attributesFile', '/dev/null'],
  ['core.excludesFile', '/dev/null'],
  ['core.autocrlf', 'false'],
  ['core.eol', 'lf'],
  ['core.safecrlf', 'false'],
  ['core.fileMode', 'true'],
  ['core.symlinks', 'true'],
  ['core.ignoreCase', 'false'],
  ['core.precomposeUnicode', 'false'],
  ['i18n.commitEncoding', 'UTF-8'],
  ['i18n.logOutputEncoding', 'UTF-8'],
  ['tar.umask', '0022'],
  // Objects are checked when they come in.
  ['transfer.fsckObjects', 'true'],
  ['fetch.fsckObjects', 'true'],
  ['receive.fsckObjects', 'true'],
  // Text for people looks the same everywhere.
  ['advice.graftFileDeprecated', 'false'],
  ['core.quotePath', 'false'],
  ['color.ui', 'false'],
  ['core.abbrev', 'auto'],
  ['diff.renames', 'false'],
  ['diff.noprefix', 'false'],
  ['diff.mnemonicPrefix', 'false'],
  ['diff.algorithm', 'myers'],
  ['diff.context', '3'],
  ['diff.interHunkContext', '0'],
  ['diff.suppressBlankEmpty', 'false'],
  ['diff.orderFile', '/dev/null'],
  ['log.mailmap', 'false'],
  // A file is never moved to where its builder did not put it.
  ['merge.renames', 'true'],
  ['merge.directoryRenames', 'false'],
  ['merge.renormalize', 'false'],
  ['merge.conflictStyle', 'diff3'],
]

/** The whole environment of a git process: nothing of the caller's but PATH. */
export function gitEnvironment(extra: Readonly<Record<string, string>> = {}): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin',
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_GRAFT_FILE: '/dev/null',
    // A partial clone fetches what it misses; an empty list allows no transport at all.
    GIT_ALLOW_PROTOCOL: '',
    GIT_NO_LAZY_FETCH: '1',
    ...commandScope(settings),
    ...extra,
  }
}

/** Settings as the variables that git reads like `-c` options. */
export function commandScope(pairs: readonly (readonly [string, string])[]): Record<string, string> {
  const variables: Record<string, string> = { GIT_CONFIG_COUNT: String(pairs.length) }
  for (const [n, [key, value]] of pairs.entries()) {
    variables[`GIT_CONFIG_KEY_${n}`] = key
    variables[`GIT_CONFIG_VALUE_${n}`] = value
  }
  return variables
}

/**
 * The caller's environment for the one question that is the user's own: who signs. Who may say so stays in (config files,
 * GIT_AUTHOR_*, EMAIL); what would point git at another repository is out.
 */
export function userEnvironment(): Record<string, string> {
  const kept = /^GIT_(AUTHOR_(NAME|EMAIL)|COMMITTER_(NAME|EMAIL)|CONFIG_.*|CONFIG)$/
  const variables = Object.entries(process.env).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && (!entry[0].startsWith('GIT_') || kept.test(entry[0])),
  )
  return { ...Object.fromEntries(variables), LC_ALL: 'C', GIT_OPTIONAL_LOCKS: '0' }
}
