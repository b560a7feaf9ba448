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
 * @import { Run } from '../measures/section.js'
 */

/** Leaves the old file or a whole new one. @param {string} path @param {object} data */
export const storeJson = async (path, data) => {
  await writeFile(`${path}.part`, `${JSON.stringify(data, null, 2)}\n`, { flush: true })
  await rename(`${path}.part`, path)
}

/**
 * Stores the run with its section and returns it; null after a warning.
 * @param {object} needs
 * @param {string} needs.folder of the run
 * @param {Wanted} needs.wanted
 * @param {readonly string[]} [needs.hosts]
 * @param {(line: string) => void} needs.say
 * @param {(line: string) => void} needs.warn
 * @param {AbortSignal} [needs.signal]
 * @param {typeof fetchCloudWatch} [needs.fetch]
 * @returns {Promise<Run | null>}
 */
export const attachCloudWatch = async ({
  folder,
  wanted,
  hosts,
  say,
  warn,
  signal,
  fetch = fetchCloudWatch,
}) => {
  const path = join(folder, 'run.json')
  try {
    const run = await readRunDocument(folder)
    if (!run) throw new OptionError(`${path} is not there`)
    const section = await fetch({
      run,
      wanted,
      hosts,
      epochMs: Date.now,
      sleep: (ms) => sleep(ms, undefined, { signal }).catch(() => {}),
      say,
      signal,
    })
    const whole = { ...run, cloudwatch: plainData(section) }
    await storeJson(path, whole)
    for (const note of section.notes) warn(`CloudWatch: ${note}`)
    return whole
  } catch (error) {
    const { code, message } = errorOf(error)
    const isReadable = error instanceof CloudWatchError || error instanceof OptionError
    warn(isReadable ? message : `CloudWatch: ${path} cannot be read or written (${code ?? message})`)
    return null
  }
}
