import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { UserError } from '@buildwave/core'
import { baseImage, buildImage, type Engine, imageDigest, inspectImage } from '@buildwave/engine'
import { archiveTree, importCommit, initStore, readFileAt, resolveCommit, type Source } from '@buildwave/git'
import { recipeOf } from './recipe.ts'

/** Where a project says what its builders need. */
export const projectDockerfile = '.claude/builder.Dockerfile'

export interface ProjectRequest {
  repo: Source
  /** A revision; the image is made of its tree alone, whatever lies in the working folder. */
  base: string
  onOutput: (text: string) => void
}

/**
 * Builds a project's own image from the tree of a commit and gives back its name, which is made of everything that goes
 * into it: the same commit on the same base image is built once. Throws UserError `no-dockerfile` and `image-failed`.
 */
export async function makeProject(engine: Engine, { repo, base, onOutput }: ProjectRequest): Promise<string> {
  const commit = await resolveCommit(repo, base)
  const dockerfile = await readFileAt(repo, commit, projectDockerfile)
  if (dockerfile === null) {
    throw new UserError('no-dockerfile', `commit '${commit.slice(0, 12)}' has no '${projectDockerfile}'`, {
      hint: "commit one that begins with the lines 'ARG BASE' and 'FROM $BASE'",
    })
  }
  const tag = `buildwave/project-${recipeOf(await imageDigest(engine, baseImage), dockerfile, commit)}`
  if ((await inspectImage(engine, tag)) !== null) return tag
  await withTree(repo, commit, async (context) => {
    const build = { tag, dockerfile: projectDockerfile, args: { BASE: baseImage }, labels: {}, onOutput }
    await buildImage(engine, context, build).catch((cause: Error) => {
      throw new UserError('image-failed', `cannot build '${tag}': ${cause.message.trim()}`, { cause })
    })
  })
  return tag
}

/**
 * Hands out a tar of the commit's whole tree. It comes from a repository of our own: in the user's, attributes could leave
 * files out or rewrite them.
 */
async function withTree(repo: Source, commit: string, use: (context: Readable) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'bw-image-'))
  try {
    const store = await initStore(join(folder, 'repo.git'), repo.objectFormat)
    await importCommit(store, repo, commit)
    const tree = archiveTree(store, commit)
    try {
      await use(tree.stdout)
    } finally {
      tree.kill()
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
