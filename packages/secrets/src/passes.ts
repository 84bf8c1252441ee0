import { brotli, gzip, zlib, zstd } from './decode/compressed.ts'
import { base32, base64, hex } from './decode/encoded-runs.ts'
import { backslash, htmlEntity, percent, quotedPrintable, unseen } from './decode/escapes.ts'
import { gitBinary } from './decode/git-binary.ts'
import { joinedPieces, markup } from './decode/joined.ts'
import { kubernetesSecret } from './decode/kubernetes.ts'
import { reversed, rot13 } from './decode/mirrored.ts'
import { hexDump, numberList } from './decode/number-lists.ts'
import { opaque } from './decode/opaque.ts'
import { patchText } from './decode/patch.ts'
import { tar } from './decode/tar.ts'
import { wideText } from './decode/wide-text.ts'
import { zip } from './decode/zip.ts'
import type { Pass } from './view.ts'

/** Every way to see more, each independent of the others; all are tried on every view. */
export const allPasses: readonly Pass[] = [
  opaque,
  patchText,
  gitBinary,
  gzip,
  zlib,
  zstd,
  brotli,
  zip,
  tar,
  base64,
  hex,
  base32,
  numberList,
  hexDump,
  percent,
  backslash,
  htmlEntity,
  quotedPrintable,
  wideText,
  unseen,
  markup,
  kubernetesSecret,
  joinedPieces,
  reversed,
  rot13,
]
