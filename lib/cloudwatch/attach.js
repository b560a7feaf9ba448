// Adds CloudWatch's numbers to a complete result. A failure is reported in one line and leaves the result as it is.
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { errorOf, OptionError } from '../base/errors.js'
import { plainData } from '../base/units.js'
import { readRunDocument } from '../result/record.js'
import { CloudWatchError } from './caches.js'
import { fetchCloudWatch } from './fetch.js'

/**
 * @import { Wanted } from './caches.js'
 * @import { RunOfNodes } from './fetch.js'
 * @import { RunDocument as Run } from '../result/document.js'
 */

/** Leaves the old file or a whole new one. @param {string} path @param {object} data */
export const storeJson = async (path, data) => {
  await writeFile(`${path}.part`, `${JSON.stringify(data, null, 2)}\n`, { flush: true })
  await rename(`${path}.part`, path)
}

/**
 * @typedef {object} Asking
 * @property {Wanted} wanted
 * @property {readonly string[]} [hosts]
 * @property {(line: string) => void} say
 * @property {(line: string) => void} warn
 * @property {AbortSignal} [signal]
 * @property {typeof fetchCloudWatch} [fetch]
 */

/** The section of a run, after a warning for each of its notes. @param {RunOfNodes} run @param {Asking} asking */
const sectionFor = async (run, { wanted, hosts, warn, say, signal, fetch = fetchCloudWatch }) => {
  const section = await fetch({
    run,
    wanted,
    hosts,
    waiting: {
      epochMs: Date.now,
      sleep: (ms) => sleep(ms, undefined, { signal }).catch(() => {}),
      say,
      signal,
    },
  })
  for (const note of section.notes) warn(`CloudWatch: ${note}`)
  return plainData(section)
}

/** What a user can act on, as it is; anything else behind `where`. @param {unknown} error @param {string} where */
const lineOf = (error, where) => {
  const { code, message } = errorOf(error)
  const isReadable = error instanceof CloudWatchError || error instanceof OptionError
  return isReadable ? message : `CloudWatch: ${where} (${code ?? message})`
}

/** Of a run that is not stored; null after a warning. @param {RunOfNodes} run @param {Asking} asking */
export const readCloudWatch = (run, asking) =>
  sectionFor(run, asking).catch((error) => {
    asking.warn(lineOf(error, 'it cannot be read'))
    return null
  })

/**
 * Stores the run with its section and returns it; null after a warning.
 * @param {Asking & { folder: string }} needs folder: of the run
 * @returns {Promise<Run | null>}
 */
export const attachCloudWatch = async ({ folder, ...asking }) => {
  const path = join(folder, 'run.json')
  try {
    const run = await readRunDocument(folder)
    if (!run) throw new OptionError(`${path} is not there`)
    const whole = { ...run, cloudwatch: await sectionFor(run, asking) }
    await storeJson(path, whole)
    return whole
  } catch (error) {
    asking.warn(lineOf(error, `${path} cannot be read or written`))
    return null
  }
}
