/** Long runs of bytes of one class, found by looking at every n-th byte only: a run of n cannot hide between two looks. */

/** A table with 1 for each character of a class written like `A-Za-z+/`. */
export function byteClass(members: string): Uint8Array {
  const table = new Uint8Array(256)
  for (let i = 0; i < members.length; i++) {
    const from = members.charCodeAt(i)
    const isRange = members[i + 1] === '-' && i + 2 < members.length
    const to = isRange ? members.charCodeAt(i + 2) : from
    for (let code = from; code <= to; code++) table[code] = 1
    if (isRange) i += 2
  }
  return table
}

/** The maximal runs of at least `least` bytes of `members`, as [start, end) pairs in order. */
export function findRuns(bytes: Uint8Array, members: Uint8Array, least: number): [number, number][] {
  const runs: [number, number][] = []
  let done = 0
  for (let look = least - 1; look < bytes.length; look += least) {
    if (members[bytes[look] as number] === 0) continue
    let start = look
    while (start > done && members[bytes[start - 1] as number] !== 0) start--
    let end = look + 1
    while (end < bytes.length && members[bytes[end] as number] !== 0) end++
    if (end - start >= least) runs.push([start, end])
    done = end
    look = end - 1
  }
  return runs
}
