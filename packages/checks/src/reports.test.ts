import { describe, expect, it } from 'vitest'
import { parseGoJson } from './go-json.ts'
import { parseJestJson } from './jest-json.ts'
import { parseJunit } from './junit.ts'
import { parseTap } from './tap.ts'

const junit = (body: string) =>
  parseJunit(Buffer.from(`<?xml version="1.0"?><testsuites><testsuite>${body}</testsuite></testsuites>`))

describe('parseJunit', () => {
  it("names pytest's tests by node id", () => {
    const tests = junit(`
      <testcase classname="tests.test_a" name="test_plain" file="tests/test_a.py" line="3"/>
      <testcase classname="tests.test_a.TestX.TestY" name="test_y[1-a.b]" file="tests/test_a.py"><failure message="no"/></testcase>
      <testcase classname="tests.test_b" name="test_z" file="tests/test_b.py"><skipped type="pytest.xfail"/></testcase>`)
    expect(tests).toEqual({
      'tests/test_a.py::test_plain': 'passed',
      'tests/test_a.py::TestX::TestY::test_y[1-a.b]': 'failed',
      'tests/test_b.py::test_z': 'skipped',
    })
  })

  it.each([
    ['a class', '<testcase classname="com.x.FooTest" name="bar"/>', 'com.x.FooTest.bar'],
    ['no class', '<testcase name="bar"/>', 'bar'],
    ['a file of ours', '<testcase file="/work/t/a.js" classname="g" name="x"/>', 't/a.js > g > x'],
    ['entities', '<testcase name="a &lt; b &amp; &#99;"/>', 'a < b & c'],
    ['a name of an object member', '<testcase name="__proto__"/>', '__proto__'],
  ])('names a test with %s', (_title, xml, name) => {
    expect(Object.keys(junit(xml) ?? {})).toEqual([name])
  })

  it('lets the worst entry of a name count', () => {
    const twice = (first: string, second: string) =>
      junit(`<testcase name="a">${first}</testcase><testcase name="a">${second}</testcase>`)
    expect(twice('<failure/>', '')).toEqual({ a: 'failed' })
    expect(twice('', '<error/>')).toEqual({ a: 'failed' })
    expect(twice('', '<skipped/>')).toEqual({ a: 'skipped' })
    expect(junit('<testcase name="a"><skipped/><error/></testcase>')).toEqual({ a: 'failed' })
  })

  it('takes only children of a test for its outcome', () => {
    expect(junit('<testcase name="a"><system-out><failure/></system-out></testcase><failure/>')).toEqual({
      a: 'passed',
    })
  })

  const deep = '<a>'.repeat(40) + '</a>'.repeat(40)
  it.each([
    ['an empty file', ''],
    ['another document', '<html><testcase name="a"/></html>'],
    ['text', 'ok 1 - a'],
    ['a report that is cut', '<testsuites><testsuite><testcase name="a"/>'],
    ['an unknown entity', '<testsuites><testcase name="&a;"/></testsuites>'],
    [
      'entities that grow',
      '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><testsuites><testcase name="&b;"/></testsuites>',
    ],
    [
      'an entity that names a file',
      '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><testsuites><testcase name="b">&a;</testcase></testsuites>',
    ],
    ['an unused document type', '<!DOCTYPE x><testsuites><testcase name="a"/></testsuites>'],
    ['a second document', '<testsuites><testcase name="a"/></testsuites><testsuites/>'],
    ['great depth', `<testsuites><testcase name="a"/>${deep}</testsuites>`],
    ['bytes that are not text', '<testsuites><testcase name="a"/>\u0000</testsuites>'],
  ])('reads nothing from %s', (_title, xml) => {
    expect(parseJunit(Buffer.from(xml))).toBeNull()
  })

  it('reads nothing from a report with more tests than a record can hold', () => {
    const many = Array.from({ length: 200_002 }, (_, index) => `<testcase name="${index}"/>`).join('')
    expect(junit(many)).toBeNull()
  })

  it('tells a report without tests from none', () => {
    expect(junit('')).toEqual({})
  })

  it('cuts a name that is a document', () => {
    expect(Object.keys(junit(`<testcase name="${'x'.repeat(50_000)}"/>`) ?? {})).toEqual(['x'.repeat(2_000)])
  })

  it('reads characters that fall on the border of two parts', () => {
    const padding = `<!--${' '.repeat(256 * 1024)}-->`
    for (let shift = 0; shift < 4; shift++)
      expect(junit(`${padding.slice(0, -3 - shift)}--><testcase name="${'ü€😀'.repeat(20)}"/>`)).toEqual({
        ['ü€😀'.repeat(20)]: 'passed',
      })
  })
})

describe('parseTap', () => {
  it('reads points, directives and nested groups', () => {
    const text = [
      'TAP version 13',
      'noise',
      'ok 1 - plain',
      'not ok 2 - broken',
      '  ---',
      "  message: 'ok 3 - not a point of ours'",
      '  ...',
      'ok 3 - left out # SKIP no engine',
      'not ok 4 - later # TODO',
      '# Subtest: group',
      '    # Subtest: inner',
      '    not ok 1 - inner',
      '    1..1',
      'not ok 5 - group',
      '1..5',
    ].join('\n')
    expect(parseTap(text)).toEqual({
      plain: 'passed',
      broken: 'failed',
      'left out': 'skipped',
      later: 'skipped',
      'group > inner': 'failed',
      group: 'failed',
    })
  })

  it('reads nothing from other text', () => {
    expect(parseTap('okay then\n3 passed')).toBeNull()
  })
})

describe('parseGoJson', () => {
  it('reads events, build failures and lines between them', () => {
    const event = (fields: object) => JSON.stringify({ Time: 'x', ...fields })
    const text = [
      event({ Action: 'run', Package: 'm/a', Test: 'TestA' }),
      event({ Action: 'pass', Package: 'm/a', Test: 'TestA' }),
      event({ Action: 'fail', Package: 'm/a', Test: 'TestB/sub' }),
      event({ Action: 'skip', Package: 'm/a', Test: 'TestC' }),
      event({ Action: 'fail', Package: 'm/broken' }),
      event({ Action: 'pass', Package: 'm/fine' }),
      'm/broken/x.go:3: syntax error',
      '{"Action":',
    ].join('\n')
    expect(parseGoJson(text)).toEqual({
      'm/a.TestA': 'passed',
      'm/a.TestB/sub': 'failed',
      'm/a.TestC': 'skipped',
      'm/broken': 'failed',
    })
  })
})

describe('parseJestJson', () => {
  it('reads the report that jest and vitest write', () => {
    const report = {
      testResults: [
        {
          name: '/work/src/a.test.ts',
          status: 'failed',
          assertionResults: [
            { ancestorTitles: ['group'], title: 'works', status: 'passed' },
            { ancestorTitles: [], title: 'breaks', status: 'failed' },
            { ancestorTitles: [], title: 'waits', status: 'pending' },
            { ancestorTitles: [], title: 'later', status: 'todo' },
          ],
        },
        { name: '/work/src/b.test.ts', status: 'failed', assertionResults: [] },
      ],
    }
    expect(parseJestJson(Buffer.from(JSON.stringify(report)), '/work')).toEqual({
      'src/a.test.ts > group > works': 'passed',
      'src/a.test.ts > breaks': 'failed',
      'src/a.test.ts > waits': 'skipped',
      'src/a.test.ts > later': 'skipped',
      'src/b.test.ts': 'failed',
    })
  })

  it.each(['', 'null', '[]', '{"testResults":[null,3]}', '{"testResults":{"name":1}}'])(
    'reads nothing from %j',
    (text) => {
      expect(parseJestJson(Buffer.from(text), '/work')).toBeNull()
    },
  )
})
