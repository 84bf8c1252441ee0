/** What a builder or a check may use; the fields of a run record's `limits` that the engine enforces. */
export interface Limits {
  memoryMiB: number
  pids: number
  cpus: number
  /** Size of `/tmp`, a tmpfs; it counts as memory. */
  tmpMiB: number
  /** Size of HOME, a tmpfs; it counts as memory. */
  homeMiB: number
}

/** A host folder inside a container. Any path works: spaces, commas, colons, umlauts. The folder must exist. */
export interface Mount {
  host: string
  target: string
  readOnly: boolean
}
