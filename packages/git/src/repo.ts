/** A repository, named by the absolute path of its git directory. Every call of this door takes one. */
export interface Repo {
  readonly gitDir: string
}

/** Our own bare repository of a run. */
export type Store = Repo

export interface Identity {
  name: string
  email: string
}

/** The user's repository as `inspectSource` found it. */
export interface Source extends Repo {
  /** The top of the working tree, or the git directory of a bare repository. */
  readonly top: string
  /** Null while the repository has no commit. */
  readonly head: string | null
  /** The short name of the branch that HEAD is on, null when it is detached. */
  readonly branch: string | null
  /** What `git commit` would sign with, null when it would refuse. */
  readonly identity: Identity | null
  readonly linkedWorktree: boolean
  /** Paths of the submodules in HEAD's tree. */
  readonly submodules: string[]
  readonly shallow: boolean
  readonly objectFormat: 'sha1' | 'sha256'
}

/** A file in a tree: git's octal mode (`100644`, `100755`, `120000`, `160000`) and the blob. */
export interface TreeFile {
  mode: string
  oid: string
}
