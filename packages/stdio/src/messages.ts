import type { Io } from './io.ts'

/** Messages for people, on stderr, as `tool: text`; at most one hint line follows an error. */
export interface Messages {
  error(text: string, hint?: string): void
  warn(text: string): void
  note(text: string): void
}

export function messagesTo(io: Pick<Io, 'stderr'>, tool: string): Messages {
  const put = (text: string) => void io.stderr.write(`${escapeControls(text)}\n`)
  return {
    error(text, hint) {
      put(`${tool}: ${text}`)
      if (hint !== undefined) put(`hint: ${hint}`)
    },
    warn: (text) => put(`${tool}: warning: ${text}`),
    note: (text) => put(`${tool}: ${text}`),
  }
}

/** Control characters but LF and TAB as visible escapes: a file name or message must never drive the terminal. */
export function escapeControls(text: string): string {
  return text.replace(
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
