/** Types of the protocol's tables, as short text made from the schemas. */
import { jsonSchemaOf } from '../../packages/bw-schema/src/schema.ts'

export interface Shape {
  type?: string | readonly string[] | undefined
  const?: unknown
  enum?: readonly string[]
  pattern?: string
  format?: string
  anyOf?: readonly Shape[]
  items?: Shape
  properties?: Readonly<Record<string, Shape>>
  required?: readonly string[]
  additionalProperties?: Shape | boolean
  minimum?: number
  exclusiveMinimum?: number
}

/** The patterns of `records.ts`, by the name that the protocol gives them. */
const patterns: Readonly<Record<string, string>> = {
  '^[0-9a-f]{40}([0-9a-f]{24})?$': 'oid',
  '^[a-z0-9][a-z0-9._-]{0,79}$': 'slug',
  '^[0-9a-f]{64}$': 'sha256',
  '^[0-9a-f]{16}$': 'key',
}

/** A kind's fields with their types, in the schema's order; a name ends in `?` when the field may be absent. */
export function fieldsOf(kind: string): [name: string, type: string][] {
  return objectFields(jsonSchemaOf(kind) as Shape)
}

/** The fields of an object's schema. */
export function objectFields(shape: Shape): [name: string, type: string][] {
  const required = new Set(shape.required ?? [])
  return Object.entries(shape.properties ?? {}).map(([name, inner]) => [
    required.has(name) ? name : `${name}?`,
    typeText(inner),
  ])
}

export function typeText(shape: Shape): string {
  if (Array.isArray(shape.type))
    return typeText({ ...shape, type: undefined, anyOf: shape.type.map((type) => ({ type })) })
  if (shape.anyOf !== undefined) {
    const rest = shape.anyOf.filter(({ type }) => type !== 'null')
    return `${rest.map(typeText).join(' or ')}${rest.length < shape.anyOf.length ? ' or null' : ''}`
  }
  if (shape.const !== undefined) return JSON.stringify(shape.const)
  if (shape.enum !== undefined) return shape.enum.join(' | ')
  if (shape.format === 'date-time') return 'time'
  if (shape.pattern !== undefined) return patterns[shape.pattern] ?? 'string'
  if (shape.type === 'integer') return integerText(shape)
  if (shape.type === 'number') return shape.exclusiveMinimum === 0 ? 'number > 0' : 'number'
  if (shape.type === 'array') return `[${typeText(shape.items ?? {})}]`
  if (shape.type === 'object') return objectText(shape)
  return typeof shape.type === 'string' ? shape.type : 'any'
}

function integerText({ minimum, exclusiveMinimum }: Shape): string {
  if (exclusiveMinimum === 0 || minimum === 1) return 'integer ≥ 1'
  return minimum === 0 ? 'integer ≥ 0' : 'integer'
}

/** `{a, b}`; a type with a section of its own goes by its name; a map is `{name: type}`. */
function objectText(shape: Shape): string {
  if (shape.properties === undefined) {
    const { additionalProperties: inner } = shape
    return `{name: ${typeof inner === 'object' ? typeText(inner) : 'any'}}`
  }
  const names = Object.keys(shape.properties).join(', ')
  return (
    namedTypes[names] ??
    `{${objectFields(shape)
      .map(([name, type]) => `${name}: ${type}`)
      .join(', ')}}`
  )
}

/** The named types of the protocol, by their fields. */
const namedTypes: Readonly<Record<string, string>> = {
  'verdict, exit, runner, tests, log, seconds': 'TestRun',
  'verdict, newlyFailing, fixed, newlySkipped, vanished, added, flaky': 'TestChanges',
  'memoryMiB, pids, cpus, minutes, testMinutes, tmpMiB, homeMiB, workMiB, outMiB': 'Limits',
}
