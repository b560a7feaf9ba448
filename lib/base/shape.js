// Shapes of data: plain JSON Schema, built by names, from which types come too (Shaped). `maybe` marks a property that may be
// missing; all others of an object are required, in their order.
import { exactly } from './typed.js'

/** @import { Obj, Optional, Schema } from './shape-types.js' */

const missing = Symbol('may be missing')

export const text = exactly({ type: 'string' })
export const number = exactly({ type: 'number' })
export const whole = exactly({ type: 'integer', minimum: 0 })
export const flag = exactly({ type: 'boolean' })
/** null: not measured. */
export const figure = exactly({ type: ['number', 'null'] })
export const note = exactly({ type: ['string', 'null'] })
export const anything = exactly({ type: 'object' })

/** @template {Schema} const S @param {S} schema @returns {Optional<S>} */
export const maybe = (schema) => /** @type {any} */ ({ ...schema, [missing]: true })

/** @template {Record<string, Schema>} const P @param {P} properties @returns {Obj<P>} */
export const object = (properties) => ({
  type: 'object',
  properties,
  required: Object.keys(properties).filter((name) => !(missing in properties[name])),
})

/** @template {Schema} const S @param {S} items @returns {{ readonly type: 'array', readonly items: S }} */
export const list = (items) => ({ type: 'array', items })

/** @template {Schema} const S @param {S} values @returns {{ readonly type: 'object', readonly additionalProperties: S }} */
export const byName = (values) => ({ type: 'object', additionalProperties: values })

/** @template {string | null} const E @param {...E} values @returns {{ readonly enum: readonly E[] }} */
export const oneOf = (...values) => ({ enum: values })

/** @template {string | number} const C @param {C} value @returns {{ readonly const: C }} */
export const just = (value) => ({ const: value })

/** @template {Schema} const S @param {S} schema @returns {{ readonly anyOf: readonly [S, { readonly type: 'null' }] }} */
export const orNull = (schema) => ({ anyOf: [schema, { type: 'null' }] })

/** With null among its types, for an object or a text. @template {Schema & { type: string }} const S @param {S} schema @returns {Omit<S, 'type'> & { readonly type: readonly [S['type'], 'null'] }} */
export const nullable = (schema) => ({ ...schema, type: [schema.type, 'null'] })

/** @template {Schema} const S @param {string} description @param {S} schema @returns {S} */
export const said = (description, schema) => ({ ...schema, description })

/** The same schema for each of several names. @template {string} const N @template {Schema} S @param {readonly N[]} names @param {S} schema @returns {Record<N, S>} */
export const each = (names, schema) =>
  /** @type {any} */ (Object.fromEntries(names.map((name) => [name, schema])))

/** A whole document with its title. @template {Record<string, Schema>} const P @param {string} title @param {P} properties */
export const document = (title, properties) => ({
  $schema: 'http://json-schema.org/draft-07/schema#',
  title,
  ...object(properties),
})
