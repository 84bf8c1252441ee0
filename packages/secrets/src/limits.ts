/** Bounds on what one surface may cost; meeting one is reported as `limit:<name>`, after what was already out was scanned. */
export interface Limits {
  /** Decodings inside each other. */
  readonly depth: number
  /** Bytes of all decoded views. */
  readonly decodedBytes: number
  /** Bytes of one decompressed entry. */
  readonly entryBytes: number
  /** Decompressed size over compressed size, above 1 MiB. */
  readonly ratio: number
  /** Entries of one archive. */
  readonly entries: number
  /** Decoded views of one surface. */
  readonly views: number
}

export const defaultLimits: Limits = {
  depth: 8,
  decodedBytes: 256 * 1024 * 1024,
  entryBytes: 64 * 1024 * 1024,
  ratio: 200,
  entries: 10_000,
  views: 100_000,
}
