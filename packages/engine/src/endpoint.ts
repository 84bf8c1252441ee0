import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'

export interface Endpoint {
  address: string
  /** Folder with ca.pem, cert.pem and key.pem for an engine behind TLS. */
  certificates: string | null
}

const usualSocket = 'unix:///var/run/docker.sock'

/** Where the engine is, in docker's own order: `DOCKER_HOST`, `DOCKER_CONTEXT`, the chosen context, the usual socket. */
export async function endpoint(env: NodeJS.ProcessEnv = process.env): Promise<Endpoint> {
  const folder = env.DOCKER_CONFIG || join(env.HOME || homedir(), '.docker')
  if (env.DOCKER_HOST) {
    return { address: env.DOCKER_HOST, certificates: env.DOCKER_TLS_VERIFY ? (env.DOCKER_CERT_PATH ?? folder) : null }
  }
  const context = env.DOCKER_CONTEXT || (await readString(join(folder, 'config.json'), ['currentContext']))
  if (context && context !== 'default') {
    const id = createHash('sha256').update(context).digest('hex')
    const address = await readString(join(folder, 'contexts/meta', id, 'meta.json'), ['Endpoints', 'docker', 'Host'])
    const certificates = address?.startsWith('tcp:') ? join(folder, 'contexts/tls', id, 'docker') : null
    if (address) return { address, certificates }
  }
  return { address: usualSocket, certificates: null }
}

async function readString(file: string, path: readonly string[]): Promise<string | null> {
  try {
    let value: unknown = JSON.parse(await readFile(file, 'utf8'))
    for (const key of path) value = value && typeof value === 'object' ? Reflect.get(value, key) : undefined
    return typeof value === 'string' ? value : null
  } catch {
    return null
  }
}
