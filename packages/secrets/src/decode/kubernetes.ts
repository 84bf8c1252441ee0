/** The values of a Kubernetes Secret are base64 of what may be a short password, so their field names are kept with them. */
import type { Pass } from '../view.ts'

const start = /kind:[ \t]{1,4}["']?Secret\b/g

const value = /^[ \t]{1,16}["']?([\w.-]{1,80})["']?:[ \t]{1,8}["']?([A-Za-z0-9+/]{8,4000}={0,2})["']?[ \t]{0,8}\r?$/

export const kubernetesSecret: Pass = {
  name: 'kubernetes-secret',
  run: ({ text }, sink) => {
    if (!text.includes('kind:')) return
    for (const { index } of text.matchAll(start)) {
      // The document from the separator before `kind` to the one after it, at most 64 KiB each way.
      const from = Math.max(0, index - 65_536, text.lastIndexOf('\n---', index) + 1)
      const stop = text.indexOf('\n---', index)
      const lines = text.slice(from, Math.min(stop < 0 ? text.length : stop, index + 65_536)).split('\n')
      const decoded = lines.flatMap((line) => {
        const [, name, encoded] = value.exec(line) ?? []
        if (name === undefined || encoded === undefined) return []
        const plain = Buffer.from(encoded, 'base64').toString('latin1')
        return /^[\t\x20-\x7e\r\n]+$/.test(plain) ? [`secret-${name}: ${plain.trimEnd()}`] : []
      })
      if (decoded.length > 0)
        sink.emit({ bytes: Buffer.from(decoded.join('\n'), 'latin1'), at: () => index, guessed: false })
    }
  },
}
