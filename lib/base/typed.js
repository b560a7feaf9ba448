// Types that tsc would widen or cannot know, each stated once here instead of in a cast where it is needed.

/** A value with the types of what is written: names stay names, and a pair stays a pair. @template const T @param {T} value @returns {T} */
export const exactly = (value) => value

/**
 * What is there by the plan or by what was done before: where it is not, the program has a mistake.
 * @template T
 * @param {T} value
 * @returns {NonNullable<T>}
 */
export const certain = (value) => {
  if (value === undefined || value === null) throw new TypeError('a part of the run is missing')
  return value
}

/** @template {object} T @param {T} table @returns {(keyof T & string)[]} */
export const keysOf = (table) => /** @type {(keyof T & string)[]} */ (Object.keys(table))

/** By a name that need not be of the table. @template T @param {Readonly<Record<string, T>>} table @param {string} name @returns {T | undefined} */
export const entryOf = (table, name) => (Object.hasOwn(table, name) ? table[name] : undefined)

/** @template A, B @param {A} one @param {B} other @returns {[A, B]} */
export const pair = (one, other) => [one, other]

/** As a property of its own, whatever its name. @param {Record<string, unknown>} object @param {string} name @param {unknown} value */
export const setOwn = (object, name, value) => {
  if (name === '__proto__')
    Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true })
  else object[name] = value
}
