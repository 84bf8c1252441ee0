import { buildRuleSet } from './match.ts'
import { rules } from './rules.ts'

/** The rules that are proof without any context: for masking, and for views made by joining or mirroring text. */
export const strongRules = buildRuleSet(rules.filter((rule) => rule.strong))

export const allRules = buildRuleSet(rules)
