/** What may import what. Each rule takes the workspace as data and gives back one line a violation. */
import { posix } from 'node:path'
import { isTest, type Package, packageOf, type SourceFile, scope, type Workspace } from './workspace.ts'

type Rule = (workspace: Workspace) => string[]

const isTool = (name: string) => name.startsWith('bw-')

/** Every import of a program is in its own manifest; a test's may be in that of the workspace too. */
export const importsAreDeclared: Rule = ({ packages, rootDevDependencies }) =>
  eachImport(packages, ({ from, isType }, { file, owner }) => {
    const name = packageOf(from)
    if (name === null || name === `${scope}${owner.name}`) return null
    const ofTests = isTest(file) ? [...owner.devDependencies, ...rootDevDependencies] : []
    const ofTypes = isType ? rootDevDependencies.filter((known) => known === `@types/${name}`) : []
    return [...owner.dependencies, ...ofTests].includes(name) || ofTypes.length > 0 ? null : `undeclared ${name}`
  })

/** A dependency is used by the program, a devDependency by a test. */
export const declarationsAreUsed: Rule = ({ packages }) =>
  packages.flatMap(({ name, dependencies, devDependencies, files }) => {
    const namesIn = (wanted: (file: SourceFile) => boolean) =>
      new Set(files.filter(wanted).flatMap(({ imports }) => imports.map(({ from }) => packageOf(from))))
    const inProgram = namesIn((file) => !isTest(file))
    const inTests = namesIn(isTest)
    return [
      ...dependencies.filter((known) => !inProgram.has(known)),
      ...devDependencies.filter((known) => !inTests.has(known)),
    ].map((known) => `${name}: unused ${known}`)
  })

export const noToolIsImported: Rule = ({ packages }) =>
  eachImport(packages, ({ from }, { file, owner }) => {
    const name = ownName(from)
    return name !== null && isTool(name) && name !== owner.name && !isTest(file) ? `imports the tool ${name}` : null
  })

/** Only tests leave their package by a path, and only for `test/support`. */
export const pathsStayInside: Rule = ({ packages }) =>
  eachImport(packages, ({ from }, { file }) => {
    if (!from.startsWith('.')) return null
    const target = posix.normalize(posix.join(posix.dirname(file.path), from))
    if (!target.startsWith('..')) return null
    return isTest(file) && target.startsWith('../../test/support/') ? null : `reaches ${from}`
  })

/** No `node:` import and no clock: what core says depends on what it is given. */
export const coreIsPure: Rule = ({ packages }) =>
  programFiles(packages.filter(({ name }) => name === 'core')).flatMap(({ owner, file }) => [
    ...file.imports
      .filter(({ from }) => from.startsWith('node:'))
      .map(({ from }) => at(owner, file, `imports ${from}`)),
    ...found(file.text, /\b(Date\.now\(|new Date\(\)|performance\.now\(|Math\.random\()/g).map((code) =>
      at(owner, file, `uses ${code}`),
    ),
  ])

/** The streams and arguments of the process belong to stdio. */
export const stdioHasTheProcess: Rule = ({ packages }) =>
  programFiles(packages.filter(({ name }) => name !== 'stdio')).flatMap(({ owner, file }) =>
    [
      ...found(file.text, /\bprocess\.(argv|stdin|stdout|stderr|exitCode)\b/g),
      ...found(file.text, /\bconsole\.\w+\(/g),
    ].map((code) => at(owner, file, `uses ${code}`)),
  )

export const onlyGitStartsGit: Rule = ({ packages }) =>
  programFiles(packages.filter(({ name }) => name !== 'git')).flatMap(({ owner, file }) =>
    found(file.text, /\b\w+\(\s*'git'/g).map((code) => at(owner, file, `calls ${code}`)),
  )

/** The modules of a table are imported only in the packages that it names; a type does no harm. */
export function doorsAreKept(doors: ReadonlyMap<string, readonly string[]>): Rule {
  return ({ packages }) =>
    eachImport(packages, ({ from, isType }, { file, owner }) => {
      const allowed = doors.get(from)
      if (allowed === undefined || isType || isTest(file)) return null
      return allowed.includes(owner.name) ? null : `imports ${from}`
    })
}

/** Every package has a row, and imports no more of ours than the row allows. */
export function tableIsKept(allowed: ReadonlyMap<string, readonly string[]>): Rule {
  return ({ packages }) => [
    ...packages.filter(({ name }) => !allowed.has(name)).map(({ name }) => `${name}: not in the table`),
    ...[...allowed.keys()]
      .filter((name) => !packages.some((known) => known.name === name))
      .map((name) => `${name}: in the table, not in the workspace`),
    ...eachImport(packages, ({ from }, { file, owner }) => {
      const name = ownName(from)
      if (name === null || name === owner.name || isTest(file)) return null
      return (allowed.get(owner.name) ?? []).includes(name) ? null : `may not import ${name}`
    }),
  ]
}

export const noCycle: Rule = ({ packages }) => {
  const edges = new Map(packages.map((owner) => [owner.name, importedPackages(owner)]))
  const done = new Set<string>()
  const cycles: string[] = []
  const visit = (name: string, path: string[]): void => {
    if (path.includes(name)) cycles.push([...path.slice(path.indexOf(name)), name].join(' -> '))
    if (done.has(name) || path.includes(name)) return
    for (const next of edges.get(name) ?? []) visit(next, [...path, name])
    done.add(name)
  }
  for (const { name } of packages) visit(name, [])
  return cycles
}

function importedPackages(owner: Package): string[] {
  const names = programFiles([owner]).flatMap(({ file }) => file.imports.map(({ from }) => ownName(from)))
  return [...new Set(names)].filter((name) => name !== null && name !== owner.name) as string[]
}

interface Place {
  owner: Package
  file: SourceFile
}

function eachImport(
  packages: readonly Package[],
  judge: (found: SourceFile['imports'][number], place: Place) => string | null,
): string[] {
  return packages.flatMap((owner) =>
    owner.files.flatMap((file) =>
      file.imports.flatMap((each) => {
        const problem = judge(each, { owner, file })
        return problem === null ? [] : [at(owner, file, problem)]
      }),
    ),
  )
}

function programFiles(packages: readonly Package[]): Place[] {
  return packages.flatMap((owner) => owner.files.filter((file) => !isTest(file)).map((file) => ({ owner, file })))
}

function found(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([code]) => code)
}

function at({ name }: Package, { path }: SourceFile, problem: string): string {
  return `${name}/${path}: ${problem}`
}

/** The folder's name of a package of ours, null for all others. */
function ownName(from: string): string | null {
  return packageOf(from)?.startsWith(scope) ? (packageOf(from)?.slice(scope.length) ?? null) : null
}
