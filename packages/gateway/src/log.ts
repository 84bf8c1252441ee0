import { appendFileSync, readFileSync } from 'node:fs'

/** One line of the gateway's log. Never a token, a header or a query: those may hold a secret. */
export interface LogLine {
  event: 'started' | 'request' | 'refused' | 'parked' | 'connect' | 'unpriced' | 'broken' | 'ended'
  item?: string
  attempt?: number
  [field: string]: unknown
}

export interface Log {
  write(line: LogLine): void
}

/** A builder may ask for what it must not have as often as it likes; so many refusals of an attempt are written down. */
const mostRefusals = 500

/** Appends to a file, one write a line. */
export function openLog(path: string): Log {
  const refusals = new Map<string, number>()
  return {
    write(line) {
      if (line.event === 'refused') {
        const who = `${line.item}~${line.attempt}`
        const seen = (refusals.get(who) ?? 0) + 1
        refusals.set(who, seen)
        if (seen > mostRefusals) return
        if (seen === mostRefusals) return put({ ...line, last: true })
      }
      put(line)
    },
  }

  function put(line: LogLine): void {
    try {
      appendFileSync(path, `${JSON.stringify({ at: new Date().toISOString(), ...line })}\n`, { mode: 0o600 })
    } catch {
      // A full disk or a removed run costs lines of the log, and never a builder its way out.
    }
  }
}

/** The lines of an earlier gateway of the same run; a torn last one is left out. */
export function readLog(path: string): LogLine[] {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
  return text.split('\n').flatMap((line) => {
    try {
      return [JSON.parse(line) as LogLine]
    } catch {
      return []
    }
  })
}

/** Text of a builder's for the log: printable ASCII, no query, 200 characters at most. */
export function loggable(text: string): string {
  return text
    .replace(/\?.*/s, '?...')
    .replace(/[^\x20-\x7e]/g, '.')
    .slice(0, 200)
}
