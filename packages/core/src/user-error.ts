import { type ExitStatus, exit } from './exit.ts'

export interface UserErrorDetail {
  /** One line that says what to do next. */
  hint?: string
  cause?: unknown
  /** What the tool exits with; 1 unless said. */
  status?: ExitStatus
}

/**
 * An error that a user can meet and mend. `code` is stable and kebab-case, the message is lower case, quotes its subject
 * and has no full stop; it is printed once, where the tool stops. Programmer errors stay plain `Error`.
 */
export class UserError extends Error {
  readonly code: string
  readonly hint: string | undefined
  readonly status: ExitStatus

  constructor(code: string, message: string, detail: UserErrorDetail = {}) {
    super(message, detail.cause === undefined ? undefined : { cause: detail.cause })
    this.name = 'UserError'
    this.code = code
    this.hint = detail.hint
    this.status = detail.status ?? exit.failed
  }
}
