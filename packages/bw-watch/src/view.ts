/**
 * What people see: on a terminal a table that is redrawn in place at most ten times a second, elsewhere one line for each
 * change of an item's state. Everything shown is masked and its control characters are escaped.
 */
import { maskText, printable } from '@buildwave/secrets'
import { escapeControls, type Io } from '@buildwave/stdio'
import { clock, type Row, renderTable } from './table.ts'

export interface View {
  update(item: string, change: Partial<Omit<Row, 'item'>>): void
  close(): void
}

const redrawMs = 100

/** A view on stderr. `started(item)` on the rows counts elapsed time while their state is `running`. */
export function openView(io: Io, tool: string): View {
  const isLive = io.stderr.isTTY === true && io.env['TERM'] !== 'dumb'
  return isLive ? liveView(io) : lineView(io, tool)
}

function emptyRow(item: string): Row {
  return {
    item,
    state: 'waiting',
    attempt: 0,
    turns: 0,
    tokens: 0,
    costUsd: null,
    seconds: null,
    lastTool: '',
    needsPerson: false,
  }
}

function lineView(io: Io, tool: string): View {
  const rows = new Map<string, Row>()
  return {
    update(item, change) {
      const before = rows.get(item)
      const row = clean({ ...(before ?? emptyRow(item)), ...change })
      rows.set(item, row)
      if (before?.state === row.state && before.attempt === row.attempt) return
      if (before === undefined && row.state === 'waiting') return
      io.stderr.write(`${tool}: ${item}: ${describe(row)}\n`)
    },
    close: () => undefined,
  }
}

/** `running, attempt 2` · `done after 0:12, 3 turns`. */
function describe(row: Row): string {
  const attempt = row.attempt > 1 ? [`attempt ${row.attempt}`] : []
  const spent =
    row.seconds === null || row.state === 'running' ? [] : [`after ${clock(row.seconds)}`, `${row.turns} turns`]
  const why = row.state === 'failed' && row.attempt === 0 ? [row.lastTool] : []
  return [`${row.state}${spent[0] === undefined ? '' : ` ${spent[0]}`}`, ...spent.slice(1), ...attempt, ...why].join(
    ', ',
  )
}

function liveView(io: Io): View {
  const rows = new Map<string, Row>()
  const since = new Map<string, number>()
  let drawn = 0
  let timer: NodeJS.Timeout | undefined
  const ticking = setInterval(schedule, 1000)
  io.stderr.write('\u001b[?25l')

  function schedule(): void {
    timer ??= setTimeout(() => {
      timer = undefined
      draw()
    }, redrawMs)
  }

  function draw(): void {
    const now = Date.now()
    const width = Math.max(20, io.stderr.columns ?? 80)
    const height = Math.max(4, (io.stderr.rows ?? 24) - 1)
    const shown = [...rows.values()].map((row) => ({
      ...row,
      seconds: row.state === 'running' ? (now - (since.get(row.item) ?? now)) / 1000 : row.seconds,
    }))
    const lines = renderTable(shown, width)
    const kept = lines.length <= height ? lines : [...lines.slice(0, height - 1), lines.at(-1) ?? '']
    const back = drawn === 0 ? '' : `\u001b[${drawn}A\r`
    io.stderr.write(`${back}${kept.map((line) => `\u001b[2K${escapeControls(line)}\n`).join('')}\u001b[J`)
    drawn = kept.length
  }

  return {
    update(item, change) {
      const before = rows.get(item)
      const row = clean({ ...(before ?? emptyRow(item)), ...change })
      if (row.state === 'running' && before?.state !== 'running') since.set(item, Date.now())
      rows.set(item, row)
      schedule()
    },
    close() {
      clearInterval(ticking)
      clearTimeout(timer)
      if (rows.size > 0) draw()
      io.stderr.write('\u001b[?25h')
    },
  }
}

function clean(row: Row): Row {
  return { ...row, lastTool: printable(maskText(row.lastTool.slice(0, 500))) }
}
