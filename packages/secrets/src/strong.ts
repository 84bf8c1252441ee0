/** The table that masks and scans share, made at its first use since every tool loads this package for its masks. */
import { buildRuleSet } from './match.ts'
import { once } from './once.ts'
import { rules } from './rules.ts'

/** The rules that are proof without any context: for masking, and for views made by joining or mirroring text. */
export const strongRules = once(() => buildRuleSet(rules.filter((rule) => rule.strong)))
