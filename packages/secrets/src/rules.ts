import { aiRules } from './rules/ai.ts'
import { cloudRules } from './rules/cloud.ts'
import { forgeRules } from './rules/forge.ts'
import { genericRules } from './rules/generic.ts'
import { keyRules } from './rules/keys.ts'
import type { Rule } from './rules/rule.ts'
import { saasRules } from './rules/saas.ts'

/** All rules. Where two match the same text with equal right, the earlier one names it. */
export const rules: readonly Rule[] = [
  ...aiRules,
  ...forgeRules,
  ...cloudRules,
  ...saasRules,
  ...keyRules,
  ...genericRules,
]
