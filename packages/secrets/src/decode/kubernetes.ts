/** The values of a Kubernetes Secret are base64 of what may be a short password, so their field names are kept with them. */
import { surveyOf } from '../survey.ts'
import type { Pass } from '../view.ts'

const start = /kind:[ \t]{1,4}["']?Secret\b/y

const reach = 65_536

const value = /^[ \t]{1,16}["']?([\w.-]{1,80})["']?:[ \t]{1,8}["']?([A-Za-z0-9+/]{8,4000}={0,2})["']?[ \t]{0,8}\r?$/

export const kubernetesSecret: Pass = {
  name: 'kubernetes-secret',
  run: (view, sink) => {
    const { text } = view
    let done = 0
    for (const index of surveyOf(view).signs('kind:')) {
      start.lastIndex = index
      if (index < done || !start.test(text)) continue
      // The document from the separator before `kind` to the one after it, at most 64 KiB each way.
      const before = text.slice(Math.max(0, index - reach), index)
      const after = text.slice(index, index + reach)
      const stop = after.indexOf('\n---')
      const document = before.slice(before.lastIndexOf('\n---') + 1) + after.slice(0, stop < 0 ? reach : stop)
      done = index + (stop < 0 ? after.length : stop)
      const lines = document.split('\n')
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
