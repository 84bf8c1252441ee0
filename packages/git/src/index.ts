export { archiveTree } from './archive.ts'
export type { GitStream } from './call.ts'
export { type Change, changedFiles, diffText, kindOf, listChanges } from './changes.ts'
export { commitTree, type NewCommit } from './commit-tree.ts'
export { type Delivery, deliverRef } from './deliver-ref.ts'
export { decodeFileName, encodeFileName } from './file-name.ts'
export { requireGit } from './git-version.ts'
export { holdsText } from './holds-text.ts'
export { listCommits, logOneline } from './log.ts'
export { type MergeConflict, type MergeResult, type MergeSides, mergeTree } from './merge-tree.ts'
export { type NewContent, newContent } from './new-content.ts'
export { type ObjectReader, objectReader } from './object-reader.ts'
export {
  commitParents,
  commitTreeOid,
  type GitObject,
  readBlob,
  readObjects,
  writeBlob,
} from './objects.ts'
export { changedPatch, checkPatch, checkPatchWith, patchDigest } from './patch-digest.ts'
export { type RefWriter, refWriter } from './ref-writer.ts'
export { hasRef, isRefName, listRefs, readRef, refConflicts, updateRef } from './refs.ts'
export type { Identity, Repo, Source, Store, TreeFile } from './repo.ts'
export { inspectSource, listSubmodules, listTracked, readFileAt, resolveCommit } from './source.ts'
export { initStore, openStore } from './store-repo.ts'
export { bundle, importCommit, maxPackBytes, shallowBoundary, takePack } from './transfer.ts'
export { treeWithFiles } from './tree-with-files.ts'
