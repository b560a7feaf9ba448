// As much of JSON Schema as ours use: what does not hold, by its path.

const typeOf = (/** @type {unknown} */ value) =>
  value === null
    ? 'null'
    : Array.isArray(value)
      ? 'array'
      : Number.isInteger(value)
        ? 'integer'
        : typeof value

/**
 * @param {any} schema
 * @param {any} value
 * @param {any} [root]
 * @param {string} [path]
 * @returns {string[]} complaints
 */
export const complaints = (schema, value, root = schema, path = '$') => {
  if (schema.$ref) {
    const found = schema.$ref
      .slice(2)
      .split('/')
      .reduce((/** @type {any} */ part, /** @type {string} */ key) => part[key], root)
    return complaints(found, value, root, path)
  }
  const types = schema.type ? [schema.type].flat() : null
  const own = typeOf(value)
  if (types && !types.includes(own) && !(own === 'integer' && types.includes('number')))
    return [`${path} is ${own}, not ${types}`]
  if ('const' in schema && value !== schema.const) return [`${path} is not ${schema.const}`]
  if (schema.enum && !schema.enum.includes(value)) return [`${path} is ${value}, not one of ${schema.enum}`]
  if (own === 'array')
    return value.flatMap((/** @type {any} */ each, /** @type {number} */ at) =>
      complaints(schema.items ?? {}, each, root, `${path}[${at}]`),
    )
  if (own !== 'object') return []
  const missing = (schema.required ?? []).filter((/** @type {string} */ key) => !(key in value))
  const unknown = schema.properties ? Object.keys(value).filter((key) => !(key in schema.properties)) : []
  return [
    ...missing.map((/** @type {string} */ key) => `${path} lacks ${key}`),
    ...unknown.map((key) => `${path}.${key} is not in the schema`),
    ...Object.entries(schema.properties ?? {}).flatMap(([key, each]) =>
      key in value ? complaints(each, value[key], root, `${path}.${key}`) : [],
    ),
  ]
}
