/** What says of itself that it cannot be read here: other compressions, encrypted files, pointers to content elsewhere. */
import type { Pass } from '../view.ts'

const beginnings: readonly (readonly [reason: string, beginning: string])[] = [
  ['opaque:bzip2', 'BZh'],
  ['opaque:xz', '\xfd7zXZ\0'],
  ['opaque:7z', "7z\xbc\xaf'\x1c"],
  ['opaque:rar', 'Rar!\x1a\x07'],
  ['opaque:lz4', '\x04"M\x18'],
  ['opaque:compress', '\x1f\x9d'],
  ['opaque:lzip', 'LZIP'],
  ['opaque:cab', 'MSCF\0\0\0\0'],
  ['encrypted:openssl', 'Salted__'],
  ['encrypted:openssl', 'U2FsdGVkX1'],
  ['encrypted:age', 'age-encryption.org/v1'],
  ['encrypted:age', '-----BEGIN AGE ENCRYPTED FILE-----'],
  ['encrypted:pgp', '-----BEGIN PGP MESSAGE-----'],
  ['encrypted:ansible-vault', '$ANSIBLE_VAULT;'],
  ['encrypted:git-crypt', '\0GITCRYPT\0'],
  ['lfs-pointer', 'version https://git-lfs.github.com/spec/v1'],
]

const bzip2Block = /^BZh[1-9](?:1AY&SY|\x17rE8P\x90)/

export const opaque: Pass = {
  name: 'opaque',
  run: ({ text }, sink) => {
    for (const [reason, beginning] of beginnings) {
      if (!text.startsWith(beginning)) continue
      if (reason !== 'opaque:bzip2' || bzip2Block.test(text)) sink.incomplete(reason)
    }
    if (text.startsWith('%PDF-') && /\/Encrypt\s{1,4}\d/.test(text)) sink.incomplete('pdf:encrypted')
  },
}
