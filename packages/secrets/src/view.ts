/** What is looked at: the bytes of a surface, or what a decoding pass made of some of them. */
import type { Limits } from './limits.ts'

export interface View {
  readonly bytes: Uint8Array
  /** `bytes` as latin-1: one character a byte. */
  readonly text: string
  /** Path of the surface, with `!` before each name inside a container. */
  readonly file: string
  /** The passes that led here, outermost first. */
  readonly via: readonly string[]
  /** Views made by joining or mirroring text hold much that nobody wrote: only rules that are proof by themselves count. */
  readonly rules: 'all' | 'strong'
  /** Reached through containers only, so that what cannot be read here is truly damaged and not a wrong guess. */
  readonly certain: boolean
  /** The offset in the surface that an offset in `bytes` came from. */
  readonly at: (offset: number) => number
}

/** What a pass made. */
export interface Decoded {
  readonly bytes: Uint8Array
  readonly at: (offset: number) => number
  /** Name inside the container. */
  readonly entry?: string
  /**
   * True when the encoding was only guessed from the look of the bytes: the result must then itself look like something
   * (see `isPlausible`), and a failure to decode says nothing.
   */
  readonly guessed: boolean
  readonly rules?: 'strong'
}

export interface Sink {
  readonly limits: Limits
  emit(decoded: Decoded): void
  /** Something could not be opened; reasons that end in `:corrupt` or `:truncated` count in certain views only. */
  incomplete(reason: string, entry?: string): void
}

/** A way to see more in a view. `name` is what records say under `via`. */
export interface Pass {
  readonly name: string
  /** It opens what is declared as such, where all other passes rewrite what may be something else. */
  readonly container?: true
  readonly run: (view: View, sink: Sink) => void
}
