/**
 * A base image without a registry: mmdebstrap makes a root file system from the packages of the host's own distribution
 * and the engine imports it. The tar is kept, so an engine that lost its images needs no network to get this one back.
 */
import { createReadStream, existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { UserError } from '@buildwave/core'
import { baseImage, type Engine, importImage } from '@buildwave/engine'
import { recipeLabel, recipeOf } from './recipe.ts'
import { runProgram } from './run-program.ts'

export interface BootstrapRequest {
  recipe: string
  cacheDir: string
  note: (text: string) => void
}

/** Makes `buildwave/base` from the cached tar, or from packages first. */
export async function importBootstrapped(engine: Engine, { recipe, cacheDir, note }: BootstrapRequest): Promise<void> {
  const tar = join(cacheDir, `base-${recipeOf(recipe, ...packages, ...leftOut)}.tar`)
  if (!existsSync(tar)) {
    note("making a root file system from the distribution's packages (up to a minute)")
    await mkdir(cacheDir, { recursive: true })
    await makeTar(tar)
    await removeOlder(cacheDir, tar)
  }
  note(`importing '${baseImage}' (${Math.round((await stat(tar)).size / 1e6)} MB)`)
  await importImage(engine, createReadStream(tar), {
    repository: baseImage,
    changes: [
      `LABEL ${recipeLabel}=${recipe}`,
      'ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      'ENV LANG=C.UTF-8',
      'CMD ["sh"]',
    ],
  })
}

/** The same programs as in the Dockerfile. */
const packages = ['ca-certificates', 'git', 'python3', 'python3-pytest', 'ripgrep']

/** Three quarters of the size is programs; of the rest nothing is read inside a builder. */
const leftOut = ['man', 'doc', 'doc-base', 'locale', 'info', 'i18n', 'lintian', 'common-licenses']

async function makeTar(tar: string): Promise<void> {
  const part = `${tar}.${process.pid}.part`
  try {
    await runProgram('mmdebstrap', [
      '--quiet',
      // Told by the option and not by the name: with another ending mmdebstrap makes a folder.
      '--format=tar',
      '--variant=apt',
      `--include=${packages.join(',')}`,
      ...leftOut.map((name) => `--dpkgopt=path-exclude=/usr/share/${name}/*`),
      ...proxySettings().map((file) => `--aptopt=${file}`),
      '--customize-hook=chroot "$1" useradd --uid 1000 --create-home --shell /bin/sh builder',
      // Where TLS is intercepted only the host's certificates work; a project's Dockerfile may fetch things.
      ...(existsSync(certificates) ? [`--customize-hook=copy-in ${certificates} /etc/ssl/certs`] : []),
      '--customize-hook=rm -rf "$1"/var/lib/apt/lists/* "$1"/var/cache/apt/*.bin "$1"/var/log/apt "$1"/var/log/*.log',
      '--customize-hook=find "$1/usr" -name __pycache__ -prune -exec rm -rf {} +',
      suite(),
      part,
      packageSources(),
    ])
    await rename(part, tar)
  } finally {
    await rm(part, { force: true })
  }
}

const certificates = '/etc/ssl/certs/ca-certificates.crt'

function suite(): string {
  const name = /^VERSION_CODENAME=(.+)$/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1]
  if (name === undefined) {
    throw new UserError('no-suite', "'/etc/os-release' names no Debian or Ubuntu release", {
      hint: 'without --bootstrap bw-image builds from a registry',
    })
  }
  return name
}

/** The distribution's own sources as this host uses them: whatever mirror works here works for the image. */
function packageSources(): string {
  const known = ['debian.sources', 'ubuntu.sources'].map((name) => `/etc/apt/sources.list.d/${name}`)
  return known.find((file) => existsSync(file)) ?? '/etc/apt/sources.list'
}

function proxySettings(): string[] {
  const folder = '/etc/apt/apt.conf.d'
  const names = existsSync(folder) ? readdirSync(folder) : []
  return names.filter((name) => name.includes('proxy')).map((name) => join(folder, name))
}

async function removeOlder(folder: string, current: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const file = join(folder, name)
    if (/^base-[0-9a-f]{16}\.tar$/.test(name) && file !== current) await rm(file, { force: true })
  }
}
