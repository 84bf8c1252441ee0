import { expect, it } from 'vitest'
import { canary } from '../src/index.ts'
import { theEngine, withEngine } from './support/engine.ts'

withEngine('the canary', () => {
  it('finds limits and walls to be real on an engine that keeps them', async () => {
    expect(await canary(theEngine())).toEqual({
      memory: true,
      pids: true,
      cpus: true,
      readOnlyRoot: true,
      noNetwork: true,
      noPrivileges: true,
      ok: true,
      problems: [],
    })
  })

  it('names what an engine accepts and then ignores', async () => {
    // What rootless engines on cgroup v1 do: bounds in the request, none in the container.
    const { docker } = theEngine()
    const careless = Object.create(docker)
    careless.createContainer = (request: { _query: object; _body: { HostConfig: object } }) => {
      const { _body } = request
      const ignored = {
        Memory: 0,
        MemorySwap: 0,
        PidsLimit: 0,
        NanoCpus: 0,
        ReadonlyRootfs: false,
        NetworkMode: 'bridge',
        SecurityOpt: [],
      }
      return docker.createContainer({
        ...request,
        _body: { ..._body, HostConfig: { ..._body.HostConfig, ...ignored, CapDrop: [] } },
      } as never)
    }
    const result = await canary({ ...theEngine(), docker: careless })
    expect(result).toMatchObject({
      memory: false,
      pids: false,
      cpus: false,
      noNetwork: false,
      noPrivileges: false,
      ok: false,
    })
    expect(result.problems.length).toBeGreaterThanOrEqual(5)
  })
})
