export type { AttemptState, BuilderEnd } from './attempt.ts'
export { attemptState, followBuilder, removeAttempt, stopAttempt } from './attempt.ts'
export type { AttemptId } from './attempt-id.ts'
export type { BuilderRequest, StartedBuilder } from './builder.ts'
export { startBuilder } from './builder.ts'
export type { CanaryResult } from './canary.ts'
export { canary } from './canary.ts'
export type { CheckRequest, CheckResult } from './check.ts'
export { runCheck } from './check.ts'
export type { CollectedTree, CollectRequest } from './collect.ts'
export { collectTree } from './collect.ts'
export type { Limits, Mount } from './confinement.ts'
export type { Engine } from './connect.ts'
export { connect } from './connect.ts'
export {
  baseImage,
  buildImage,
  fileContext,
  holderImage,
  type ImageBuild,
  imageDigest,
  importImage,
  inspectImage,
  listImages,
  pullImage,
} from './image.ts'
export { labels } from './labels.ts'
export type { StartLayer, StartRequest } from './layer.ts'
export { prepareStart } from './layer.ts'
export type { OwnedThing } from './owned.ts'
export { listOwned, reap } from './owned.ts'
export { ownFile } from './program.ts'
export { builderGid, builderUid, makeBuilderFolder } from './uid.ts'
