// Reads the file of a calibration; refuses one that is incomplete, or of another schema or server.
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { OptionError, TargetError } from '../../base/errors.js'
import { faultIn } from '../../base/json-schema.js'
import { plainText } from '../../base/units.js'
import { calibrationSchema, calibrationVersion } from '../../result/plan-schemas.js'

/** @import { Calibration } from '../../result/plan-schemas.js' */

export const calibrationName = 'calibration.json'

/** 7.0 of 7.0.15: patch versions do not change costs enough. @param {string} version */
const series = (version) => version.split('.').slice(0, 2).join('.')

/** @param {string} path of the file, or of its folder @param {{ serverVersion?: string }} wanted @returns {Calibration} */
export const readCalibration = (path, { serverVersion } = {}) => {
  const where = `--calibration ${plainText(path)}`
  const text = (() => {
    try {
      return readFileSync(statSync(path).isDirectory() ? join(path, calibrationName) : path, 'utf8')
    } catch (cause) {
      const { code } = /** @type {NodeJS.ErrnoException} */ (cause)
      throw new OptionError(`${where} cannot be read (${code})`, { cause })
    }
  })()
  const document = (() => {
    try {
      return JSON.parse(text)
    } catch (cause) {
      throw new OptionError(`${where} is incomplete, or not JSON`, { cause })
    }
  })()
  if (document?.kind !== 'calibration') throw new OptionError(`${where} is not a calibration`)
  if (document.schema !== calibrationVersion)
    throw new OptionError(
      `${where} has schema ${plainText(String(document.schema)).slice(0, 20)}, and this version reads ${calibrationVersion}: calibrate again`,
    )
  const fault = faultIn(document, calibrationSchema)
  if (fault !== null) throw new OptionError(`${where} is damaged: ${fault}`)
  const { version } = document.server
  if (serverVersion !== undefined && series(serverVersion) !== series(version))
    throw new TargetError(
      `${where} is of server ${plainText(version)}, and --server-version is ${plainText(serverVersion)}: calibrate on that version`,
      { code: 'VERSION' },
    )
  return document
}
