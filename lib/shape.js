// Whether data read from a file is what its JSON Schema says, and where it is not.
import { createRequire } from 'node:module'
import { plainText } from './base/units.js'

const require = createRequire(import.meta.url)
const longestPath = 60

/** @type {WeakMap<object, import('ajv').ValidateFunction>} */
const compiled = new WeakMap()

/** @param {object} schema */
const checkOf = (schema) => {
  const known = compiled.get(schema)
  if (known) return known
  // Only what reads files back pays for it.
  const { Ajv } = /** @type {typeof import('ajv')} */ (require('ajv'))
  const check = new Ajv({ allowUnionTypes: true, strictRequired: false }).compile(schema)
  compiled.set(schema, check)
  return check
}

/** `/nodes/0/address` as nodes.0.address @param {string} pointer @param {string} [missing] */
const pathOf = (pointer, missing) => {
  const parts = pointer.split('/').slice(1)
  const names = parts.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  const path = plainText([...names, ...(missing === undefined ? [] : [missing])].join('.'))
  return path.length > longestPath ? `${path.slice(0, longestPath)}...` : path
}

/**
 * The first thing that is wrong, in words; null: nothing is.
 * @param {unknown} data
 * @param {object} schema
 * @returns {string | null}
 */
export const faultIn = (data, schema) => {
  const check = checkOf(schema)
  if (check(data)) return null
  const [{ instancePath, keyword, params, message = 'is wrong' }] = check.errors ?? []
  if (keyword === 'required') return `'${pathOf(instancePath, params.missingProperty)}' is missing`
  const allowed = keyword === 'enum' ? `: ${params.allowedValues.join(', ')}` : ''
  return instancePath === '' ? `it ${message}` : `'${pathOf(instancePath)}' ${message}${allowed}`
}
