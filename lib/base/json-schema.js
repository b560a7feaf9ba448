// Whether data read from a file is what its JSON Schema says, and where it is not.
import { createRequire } from 'node:module'
import { plainText } from './units.js'

/** @import { ValidateFunction } from 'ajv' */

const require = createRequire(import.meta.url)
const longestPath = 60

/** The project's own schemas need no checks, and checking them would take as long as the rest. */
const how = { allowUnionTypes: true, strictRequired: false, validateSchema: false, code: { optimize: false } }

/** @type {WeakMap<object, ValidateFunction>} */
const compiled = new WeakMap()

/** @param {object} schema */
const checkOf = (schema) => {
  const known = compiled.get(schema)
  if (known) return known
  // Compiled only when a file is read.
  /** @type {typeof import('ajv')} */
  const { Ajv } = require('ajv')
  const check = new Ajv(how).compile(schema)
  compiled.set(schema, check)
  return check
}

/** `/nodes/0/address` @param {string} pointer */
const partsOf = (pointer) =>
  pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))

/** nodes.0.address @param {readonly string[]} parts */
const shownPath = (parts) => {
  const path = plainText(parts.join('.'))
  return path.length > longestPath ? `${path.slice(0, longestPath)}...` : path
}

/**
 * The first thing that is wrong; null: nothing is.
 * @param {unknown} data
 * @param {object} schema
 * @returns {{ path: string[], extra: string | null, sentence: string } | null} extra: a name that must not be there
 */
export const firstFault = (data, schema) => {
  const check = checkOf(schema)
  if (check(data)) return null
  const [{ instancePath, keyword, params, message = 'is wrong' }] = check.errors ?? []
  const path = partsOf(instancePath)
  const extra = keyword === 'additionalProperties' ? String(params.additionalProperty) : null
  if (keyword === 'required')
    return { path, extra, sentence: `'${shownPath([...path, params.missingProperty])}' is missing` }
  if (extra !== null) return { path, extra, sentence: `unknown '${shownPath([...path, extra])}'` }
  const allowed = keyword === 'enum' ? `: ${params.allowedValues.join(', ')}` : ''
  const sentence = path.length === 0 ? `it ${message}` : `'${shownPath(path)}' ${message}${allowed}`
  return { path, extra, sentence }
}

/**
 * The first thing that is wrong, in words; null: nothing is.
 * @param {unknown} data
 * @param {object} schema
 * @returns {string | null}
 */
export const faultIn = (data, schema) => firstFault(data, schema)?.sentence ?? null
