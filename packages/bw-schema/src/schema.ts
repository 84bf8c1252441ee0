import { isKnownKind, type Kind, schemas, UserError } from '@buildwave/core'
import { nearestName } from '@buildwave/stdio'
import { repoConfigSchema, userConfigSchema } from '@buildwave/store'
import * as z from 'zod'

const configs = { config: repoConfigSchema, 'user-config': userConfigSchema } as const

/** Everything that has a schema: the record kinds in the protocol's order, then the two configuration files. */
export const schemaNames: readonly string[] = [...Object.keys(schemas), ...Object.keys(configs)]

/** The JSON Schema (draft 2020-12) of a record kind or a configuration file. Throws UserError `unknown-kind`. */
export function jsonSchemaOf(name: string): unknown {
  if (isKnownKind(name)) return z.toJSONSchema(schemas[name as Kind])
  if (Object.hasOwn(configs, name)) return z.toJSONSchema(configs[name as keyof typeof configs])
  const near = nearestName(name, schemaNames)
  throw new UserError('unknown-kind', `no schema '${name}'`, {
    hint: near === undefined ? `known: ${schemaNames.join(', ')}` : `did you mean '${near}'?`,
  })
}
