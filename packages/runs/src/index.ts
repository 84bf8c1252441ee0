export { diskSize } from './disk-size.ts'
export { findState, listRuns, pickRun, refuseRest } from './find-run.ts'
export { attemptsOf, findAttempt, findItem, type History, lastOf, ofKind, readHistory, spanOf } from './history.ts'
export {
  type Holdings,
  holdingsOf,
  isExpired,
  runningBuilders,
  type Uncollected,
  uncollectedOf,
} from './on-engine.ts'
export {
  type ItemStanding,
  itemStanding,
  liveLeases,
  mergedCount,
  openItems,
  type RunLook,
  type RunState,
  runState,
} from './run-state.ts'
export { showAge, showColumns, showSize } from './show.ts'
