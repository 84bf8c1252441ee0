/** Names that are safe as a part of a git ref, a file name and a container name, whatever they are made from. */

/** Longest slug, from the records' schema. */
const maxLength = 80

/**
 * A slug of any text: `[a-z0-9][a-z0-9._-]*`, at most 80 characters, no `..`, no `.lock` or dot at the end. Text that leaves
 * nothing (only CJK, only emoji) or is cut gets 8 hex digits of its own, so that different texts stay different.
 */
export function slugify(text: string): string {
  const plain = text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/\.{2,}/g, '.')
    .replace(/-{2,}/g, '-')
    .replace(/^[^a-z0-9]+|[^a-z0-9]+$/g, '')
    .replace(/\.lock$/, '-lock')
  if (plain === '') return `x${hash(text)}`
  if (plain.length > maxLength) return withHash(plain, text)
  return plain
}

/** One slug per text, all different, each the same whatever comes after it in the list. */
export function distinctSlugs(texts: readonly string[]): string[] {
  const taken = new Set<string>()
  return texts.map((text) => {
    let slug = slugify(text)
    for (let turn = 0; taken.has(slug); turn++) slug = withHash(slugify(text), turn === 0 ? text : `${turn} ${text}`)
    taken.add(slug)
    return slug
  })
}

function withHash(slug: string, text: string): string {
  return `${slug.slice(0, maxLength - 9).replace(/[^a-z0-9]+$/, '')}-${hash(text)}`
}

/** FNV-1a, 32 bits, as 8 hex digits: told apart, not protected. */
function hash(text: string): string {
  let value = 0x811c9dc5
  for (const byte of new TextEncoder().encode(text)) value = Math.imul(value ^ byte, 0x01000193) >>> 0
  return value.toString(16).padStart(8, '0')
}
