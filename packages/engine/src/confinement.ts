import { existsSync } from 'node:fs'
import type { HostConfig, MountSettings } from 'dockerode'
import { program } from './program.ts'
import { builderGid } from './uid.ts'

/** What a builder or a check may use; the fields of a run record's `limits` that the engine enforces. */
export interface Limits {
  memoryMiB: number
  pids: number
  cpus: number
  /** Size of `/tmp`, a tmpfs; it counts as memory. */
  tmpMiB: number
  /** Size of HOME, a tmpfs; it counts as memory. */
  homeMiB: number
  /** What may be written in `/work`, on the engine's disk. */
  workMiB: number
}

/** A host folder inside a container. Any path works: spaces, commas, colons, umlauts. The folder must exist. */
export interface Mount {
  host: string
  target: string
  readOnly: boolean
}

/** The builder's HOME, in any image. */
export const home = '/home/builder'

/** Enough for a browser or a multi-process test runner; the engine's own 64 MiB is not. It counts as memory. */
const sharedMemoryMiB = 256

const mib = 1024 * 1024

/** What holds for every container of ours, whoever runs in it. */
export const sealed = {
  CapDrop: ['ALL'],
  SecurityOpt: ['no-new-privileges'],
  ReadonlyRootfs: true,
  // Two small files: the engine drops the oldest lines, so nothing that counts goes through its log.
  LogConfig: { Type: 'json-file', Config: { 'max-size': '1m', 'max-file': '2' } },
} satisfies HostConfig

/** A kernel started without IPv6 has no such sysctls, and a container that asks for them does not start. */
const hasIpv6 = existsSync('/proc/sys/net/ipv6')

/**
 * A network namespace with a loopback and nothing else. Without the sysctls `::1` cannot be bound, without the host
 * entry a program that looks up its own name fails; both happen in test suites.
 */
export const ownNamespaces = {
  NetworkMode: 'none',
  Init: true,
  Sysctls: hasIpv6 ? { 'net.ipv6.conf.all.disable_ipv6': '0', 'net.ipv6.conf.lo.disable_ipv6': '0' } : {},
  ExtraHosts: ['builder:127.0.0.1'],
} satisfies HostConfig

/** The host name that `ownNamespaces` makes resolvable. */
export const hostname = 'builder'

/** The walls and bounds around what the builder's uid runs, the same for builders and checks or verdicts would differ. */
export function confinement(limits: Limits, uid: number): HostConfig {
  return {
    ...sealed,
    Memory: limits.memoryMiB * mib,
    // The same value means no swap; without it a container gets as much again.
    MemorySwap: limits.memoryMiB * mib,
    PidsLimit: limits.pids,
    NanoCpus: Math.round(limits.cpus * 1e9),
    ShmSize: sharedMemoryMiB * mib,
    Ulimits: [
      { Name: 'core', Soft: 0, Hard: 0 },
      // One file can grow faster than the watch over `/work` looks.
      { Name: 'fsize', Soft: limits.workMiB * mib, Hard: limits.workMiB * mib },
    ],
    Tmpfs: {
      '/tmp': `rw,exec,nosuid,nodev,mode=1777,size=${limits.tmpMiB}m`,
      [home]: `rw,exec,nosuid,nodev,mode=0700,uid=${uid},gid=${builderGid()},size=${limits.homeMiB}m`,
      // The engine puts a world-writable message queue file system here; it is outside every size bound.
      '/dev/mqueue': 'ro,nosuid,nodev,noexec,mode=0755,size=4k',
    },
  }
}

/**
 * The main process of what owns a builder's or check's namespaces: a time limit, and below it a watch over what is written
 * in `/work` beside `command`. `timeout` answers 124 for itself and hands on the watch's own exit status.
 */
export function guarded(
  command: readonly string[],
  { ttlSeconds, workMiB }: { ttlSeconds: number; workMiB: number },
): string[] {
  return ['timeout', '-k', '5', String(ttlSeconds), ...program('hold', String(workMiB * 1024), ...command)]
}

/** What a guard exits with: its time is over (coreutils' timeout), or too much was written. */
export const guardExit = { time: 124, disk: 122 } as const

/** The environment of a builder or check: nothing of the host's, only HOME, the user's name and what is given. */
export function environment(given: Readonly<Record<string, string>>): string[] {
  return Object.entries({ HOME: home, USER: 'builder', LOGNAME: 'builder', ...given }).map(
    ([name, value]) => `${name}=${value}`,
  )
}

/** A host folder, through the Mounts API: unlike `-v` it takes any path and refuses one that is missing. */
export function hostFolder({ host, target, readOnly }: Mount): MountSettings {
  return {
    Type: 'bind',
    Source: host,
    Target: target,
    ReadOnly: readOnly,
    // Old engines make only the top mount of a read-only bind read-only; what is mounted below it would stay writable.
    BindOptions: { Propagation: 'rprivate', NonRecursive: true } as NonNullable<MountSettings['BindOptions']>,
  }
}

/** An engine-managed volume, as it is: nothing of the image is copied into it. */
export function volumeAt(name: string, target: string, readOnly: boolean): MountSettings {
  return {
    Type: 'volume',
    Source: name,
    Target: target,
    ReadOnly: readOnly,
    VolumeOptions: { NoCopy: true, Labels: {}, DriverConfig: { Name: 'local', Options: {} } },
  }
}

/**
 * A fresh volume that gets the folders of our image at `layerFolder`, with their owner: `upper` and `work`, which an
 * overlay needs and which the builder's uid must own. The engine fills it when the container is created.
 */
export function freshLayer(name: string): MountSettings {
  return { Type: 'volume', Source: name, Target: layerFolder, ReadOnly: false }
}

export const layerFolder = '/layer'
