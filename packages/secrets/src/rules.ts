import { aiRules } from './rules/ai.ts'
import { forgeRules } from './rules/forge.ts'
import type { Rule } from './rules/rule.ts'

/** All rules. Where two match the same text, the earlier one names it. */
export const rules: readonly Rule[] = [...aiRules, ...forgeRules]
