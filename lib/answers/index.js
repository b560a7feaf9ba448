// The answers that Millrace gives, each declared in one file, and how one is read again.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { OptionError } from '../base/errors.js'
import { faultIn } from '../base/json-schema.js'
import { compare } from '../compare/report.js'
import { experiment } from '../report/experiment.js'
import { choose } from './choose/report.js'
import { findMemory } from './find/memory-report.js'
import { find } from './find/report.js'
import { cachePlan } from './plan/cache-answer.js'
import { calibration } from './plan/calibration.js'
import { plan } from './plan/report.js'
import { profile } from './profile/report.js'
import { snapshotAnswer } from './profile/snapshot-answer.js'

export const answers = Object.freeze([
  ...[find, findMemory, choose],
  ...[compare, experiment],
  ...[calibration, plan, cachePlan],
  ...[profile, snapshotAnswer],
])

/** The files of the answer whose JSON is in a folder, made again from it; null: there is none. @param {string} folder */
export const answerFilesIn = async (folder) => {
  const path = answers.map(({ file }) => join(folder, `${file}.json`)).find((one) => existsSync(one))
  if (path === undefined) return null
  const wrong = (/** @type {string} */ why) =>
    new OptionError(`${path} is not an answer that can be read: ${why}`)
  try {
    const one = JSON.parse(readFileSync(path, 'utf8'))
    const faults = answers
      .filter(({ file, kind }) => path.endsWith(`${file}.json`) && kind === one?.kind)
      .map((declared) => ({ declared, fault: faultIn(one, declared.schema) }))
    const [found] = faults
    if (!found) throw wrong(`its kind is unknown`)
    if (found.fault !== null) throw wrong(found.fault)
    return { name: `${found.declared.file}.html`, files: await found.declared.files(one) }
  } catch (cause) {
    if (cause instanceof SyntaxError) throw wrong('it is not JSON')
    throw cause
  }
}
