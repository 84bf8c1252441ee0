import type Docker from 'dockerode'

/** An engine that answered, opaque to everything outside this package. */
export interface Engine {
  readonly docker: Docker
  /** The host user's uid; the `owner` label of everything made through this engine. */
  readonly owner: string
  /** Runs a life-cycle call when one of the 8 places is free. */
  readonly limited: <T>(call: () => Promise<T>) => Promise<T>
}

/**
 * Speaks to the engine that `DOCKER_HOST` or the docker context names and makes sure that it answers.
 * Throws UserError `no-engine` with the next step when none does.
 */
export async function connect(): Promise<Engine> {
  throw new Error('not written yet')
}
