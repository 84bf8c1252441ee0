import { expect, it } from 'vitest'
import { checkReport } from '../src/check-report.ts'

function read(chunks: readonly string[]) {
  const report = checkReport(['/a', '/b'])
  for (const chunk of chunks) report.add(Buffer.from(chunk))
  const { files, ...rest } = report.take()
  return { ...rest, files: [...files].map(([path, bytes]) => `${path}=${bytes}`) }
}

it('tells what was wrong when the command never started', () => {
  expect(read(['fatal: no su', 'ch commit\n'])).toMatchObject({
    started: false,
    seconds: 0,
    message: 'fatal: no such commit',
    files: [],
  })
})

it('reads files after the start, whatever was said before and wherever it is cut', () => {
  for (const chunks of [['warning: x\nstart\n0 3\nabc1 0\n'], [...'warning: x\nstart\n0 3\nabc1 0\n']]) {
    expect(read(chunks)).toMatchObject({ started: true, files: ['/a=abc', '/b='] })
  }
})

it('leaves out a file that is cut off, and what makes no sense', () => {
  expect(read(['start\n0 3\nab']).files).toEqual([])
  expect(read(['start\n0 3\nabc9 1\nx1 1\ny']).files).toEqual(['/a=abc'])
  expect(read(['start\n0 -5\nabc']).files).toEqual([])
  expect(read(['start\n0 zero\nabc']).files).toEqual([])
})
