/** The workspace as data: packages, what they declare, and what their files import. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'

export interface SourceFile {
  /** Relative to the package's folder. */
  path: string
  text: string
  imports: Import[]
}

export interface Import {
  from: string
  /** `import type`: gone when the program runs. */
  isType: boolean
}

export interface Package {
  /** The folder's name; the package is `@buildwave/<name>`. */
  name: string
  dependencies: string[]
  devDependencies: string[]
  files: SourceFile[]
}

export interface Workspace {
  packages: Package[]
  rootDevDependencies: string[]
}

export const scope = '@buildwave/'

export function readWorkspace(root: string): Workspace {
  const folder = join(root, 'packages')
  const names = readdirSync(folder).filter((name) => existsSync(join(folder, name, 'package.json')))
  return {
    packages: names.map((name) => readPackage(join(folder, name), name)),
    rootDevDependencies: Object.keys(readManifest(root).devDependencies ?? {}),
  }
}

function readPackage(folder: string, name: string): Package {
  const { dependencies = {}, devDependencies = {} } = readManifest(folder)
  const files = ['src', 'test'].flatMap((part) => typescriptFiles(join(folder, part)))
  return {
    name,
    dependencies: Object.keys(dependencies),
    devDependencies: Object.keys(devDependencies),
    files: files.map((path) => sourceFile(relative(folder, path), readFileSync(path, 'utf8'))),
  }
}

interface Manifest {
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
}

function typescriptFiles(folder: string): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name)
    if (statSync(path).isDirectory()) return name === 'cases' || name === 'node_modules' ? [] : typescriptFiles(path)
    return name.endsWith('.ts') ? [path] : []
  })
}

export function sourceFile(path: string, text: string): SourceFile {
  return { path, text, imports: importsOf(text) }
}

/** Static and dynamic imports. The formatter keeps statements at the start of a line, so text inside of strings does not count. */
function importsOf(text: string): Import[] {
  const statements = /^(?:import|export)\b(\s+type\b)?(?:[^'";]*?\bfrom)?\s*'([^']+)'/gm
  const calls = /\bimport\(\s*'([^']+)'\s*\)/g
  return [
    ...[...text.matchAll(statements)].map(([, type, from = '']) => ({ from, isType: type !== undefined })),
    ...[...text.matchAll(calls)].map(([, from = '']) => ({ from, isType: false })),
  ]
}

export function isTest({ path }: Pick<SourceFile, 'path'>): boolean {
  return path.startsWith('test/') || path.endsWith('.test.ts')
}

/** `a/b/c` is of package `a`, `@s/a/b` of `@s/a`; null for `node:` and relative imports. */
export function packageOf(from: string): string | null {
  if (from.startsWith('.') || from.startsWith('node:')) return null
  return from.split('/', from.startsWith('@') ? 2 : 1).join('/')
}
