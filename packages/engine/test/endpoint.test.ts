import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { endpoint } from '../src/endpoint.ts'
import { newFolder } from './support/folder.ts'

const home = newFolder()

function addContext(name: string, host: string): void {
  const folder = join(home, '.docker/contexts/meta', createHash('sha256').update(name).digest('hex'))
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'meta.json'), JSON.stringify({ Name: name, Endpoints: { docker: { Host: host } } }))
}

it('is the usual socket when nothing says otherwise', async () => {
  expect(await endpoint({ HOME: '/nonexistent' })).toEqual({
    address: 'unix:///var/run/docker.sock',
    certificates: null,
  })
})

it('is DOCKER_HOST before DOCKER_CONTEXT before the chosen context', async () => {
  addContext('rootless', 'unix:///run/user/1000/docker.sock')
  addContext('far', 'tcp://far.example:2376')
  writeFileSync(join(home, '.docker/config.json'), JSON.stringify({ currentContext: 'rootless' }))
  expect((await endpoint({ HOME: home })).address).toBe('unix:///run/user/1000/docker.sock')
  expect(await endpoint({ HOME: home, DOCKER_CONTEXT: 'far' })).toMatchObject({
    address: 'tcp://far.example:2376',
    certificates: expect.stringContaining(join(home, '.docker/contexts/tls')),
  })
  expect((await endpoint({ HOME: home, DOCKER_CONTEXT: 'default' })).address).toBe('unix:///var/run/docker.sock')
  expect((await endpoint({ HOME: home, DOCKER_HOST: 'unix:///x', DOCKER_CONTEXT: 'far' })).address).toBe('unix:///x')
})

it('is the usual socket when the configuration cannot be read', async () => {
  const folder = join(home, 'broken')
  mkdirSync(folder)
  writeFileSync(join(folder, 'config.json'), 'not JSON')
  expect((await endpoint({ DOCKER_CONFIG: folder })).address).toBe('unix:///var/run/docker.sock')
})
