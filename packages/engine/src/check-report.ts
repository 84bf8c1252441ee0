/** What `inside/check.sh` says on its stderr: a reason why it could not start, or `start` and then files. */
export interface CheckReport {
  add: (data: Buffer) => void
  take: () => { started: boolean; seconds: number; message: string; files: Map<string, Buffer> }
}

/** Reads the report as it comes. A file that is cut off is left out. `seconds` is from `start` until `take`. */
export function checkReport(wants: readonly string[]): CheckReport {
  const startLine = /(?:^|\n)start\n/
  let pieces: Buffer[] = []
  let message = ''
  let startedAt: number | null = null
  return {
    add: (data) => {
      pieces.push(Buffer.from(data))
      if (startedAt !== null) return
      const text = Buffer.concat(pieces)
      const match = startLine.exec(text.toString('latin1'))
      if (match === null) {
        message = text.subarray(-messageBytes).toString('utf8').trim()
        return
      }
      startedAt = performance.now()
      pieces = [text.subarray(match.index + match[0].length)]
    },
    take: () => ({
      started: startedAt !== null,
      seconds: startedAt === null ? 0 : (performance.now() - startedAt) / 1000,
      message,
      files: startedAt === null ? new Map() : readFiles(Buffer.concat(pieces), wants),
    }),
  }
}

const messageBytes = 4096

function readFiles(report: Buffer, wants: readonly string[]): Map<string, Buffer> {
  const files = new Map<string, Buffer>()
  let at = 0
  while (at < report.length) {
    const lineEnd = report.indexOf(0x0a, at)
    // The command may have written here too: nothing but two plain numbers is believed.
    const head = /^(\d{1,9}) (\d{1,9})$/.exec(report.toString('latin1', at, Math.min(lineEnd, at + 20)))
    const path = wants[Number(head?.[1])]
    const end = lineEnd + 1 + Number(head?.[2])
    if (lineEnd < 0 || head === null || path === undefined || end > report.length) break
    files.set(path, report.subarray(lineEnd + 1, end))
    at = end
  }
  return files
}
