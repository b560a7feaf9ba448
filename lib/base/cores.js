// The cores that this process may use: those of the machine, and no more than its cgroups have CPU for.
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname, join } from 'node:path'

/** @param {string} file @returns {string} empty: there is none */
const textOf = (file) => {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

/** A cgroup and those around it. @param {string} path @returns {string[]} */
const upwards = (path) => (path === dirname(path) ? [path] : [path, ...upwards(dirname(path))])

/** CPU of a cgroup, in cores; Infinity: no limit. @param {string} cgroup @param {boolean} isV2 */
const quotaOf = (cgroup, isV2) => {
  const text = (/** @type {string} */ file) => textOf(join(cgroup, file))
  const [quota, period] = isV2
    ? text('cpu.max').split(' ')
    : [text('cpu.cfs_quota_us'), text('cpu.cfs_period_us')]
  const cores = Number(quota) / Number(period)
  return cores > 0 ? cores : Number.POSITIVE_INFINITY
}

/**
 * The least that the cgroups of a process leave it, in cores. In a container the path may be that of the host: what is not
 * mounted is left out, and the container's own cgroup is the root.
 * @param {string} folder where cgroups are mounted
 * @param {string} ofProcess the file that names those of the process
 */
const cgroupCores = (folder, ofProcess) => {
  const limits = textOf(ofProcess)
    .split('\n')
    .flatMap((line) => {
      const [, controllers, path] = /^\d+:([^:]*):(\/.*)$/.exec(line) ?? []
      if (path === undefined) return []
      const isV2 = controllers === ''
      if (!isV2 && !controllers.split(',').includes('cpu')) return []
      return upwards(path).map((one) => quotaOf(join(folder, controllers, one), isV2))
    })
  return Math.min(...limits)
}

/**
 * Whole cores, at least one.
 * @param {{ folder?: string, ofProcess?: string, ofMachine?: number }} [system]
 */
export const coresHere = ({
  folder = '/sys/fs/cgroup',
  ofProcess = '/proc/self/cgroup',
  ofMachine = availableParallelism(),
} = {}) => Math.max(1, Math.min(ofMachine, Math.floor(cgroupCores(folder, ofProcess))))
