import type Docker from 'dockerode'
import type { VolumeCreateOptions } from 'dockerode'
import { freshLayer } from './confinement.ts'
import type { Engine } from './connect.ts'
import { createContainer, removeContainer } from './container.ts'
import { holderImage } from './image.ts'
import type { Identity } from './labels.ts'
import { labelled } from './labels.ts'
import { statusOf } from './status.ts'

/** An engine-managed volume: its name and where it lies on the engine's host. */
export interface Volume {
  name: string
  path: string
}

/** Makes an empty volume, or finds the one of that name. */
export async function makeVolume(engine: Engine, name: string, labels: Record<string, string>): Promise<Volume> {
  const { Mountpoint } = await (await createVolume(engine, { Name: name, Driver: 'local', Labels: labels })).inspect()
  return { name, path: Mountpoint }
}

function createVolume(engine: Engine, options: VolumeCreateOptions): Promise<Docker.Volume> {
  const request = { _query: {}, _body: options } as VolumeCreateOptions
  return engine.limited(() => engine.docker.createVolume(request))
}

/**
 * Makes a volume whose content is `lower` (topmost first) with `upper`'s writes on top. Only paths of engine-managed
 * volumes may be given: a comma in a path would end the option.
 */
export async function makeOverlay(
  engine: Engine,
  name: string,
  of: { lower: readonly string[]; upper: Volume; labels: Record<string, string> },
): Promise<void> {
  const options = `lowerdir=${of.lower.join(':')},upperdir=${of.upper.path}/upper,workdir=${of.upper.path}/work`
  await createVolume(engine, {
    Name: name,
    Driver: 'local',
    DriverOpts: { type: 'overlay', device: 'overlay', o: options },
    Labels: of.labels,
  })
}

/** The volume's labels, or null when there is none of that name. */
export async function volumeLabels(engine: Engine, name: string): Promise<Record<string, string> | null> {
  try {
    return (await engine.docker.getVolume(name).inspect()).Labels ?? {}
  } catch (error) {
    if (statusOf(error) === 404) return null
    throw error
  }
}

/** Removes a volume. False when a container still uses it; true when it is gone, also when it never was. */
export async function removeVolume(engine: Engine, name: string): Promise<boolean> {
  try {
    await engine.limited(() => engine.docker.getVolume(name).remove())
    return true
  } catch (error) {
    if (statusOf(error) === 404) return true
    if (statusOf(error) === 409) return false
    throw error
  }
}

/**
 * Puts the folders of our image's `/layer` into a fresh volume, owned by the builder's uid: the engine does that when a
 * container is created, so this one never starts.
 */
export async function populate(engine: Engine, volume: Volume, identity: Omit<Identity, 'role'>): Promise<void> {
  const container = await createContainer(engine, `${volume.name}-populate`, {
    Image: holderImage(),
    Labels: labelled(engine, { ...identity, role: 'filler' }),
    HostConfig: { NetworkMode: 'none', Mounts: [freshLayer(volume.name)] },
  })
  await removeContainer(engine, container.id)
}
