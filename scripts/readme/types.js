// The generated parts of lib/index.d.ts: the options come from the table of settings.js, the files of a run from their schemas.
import { programOptions } from '../../lib/cli/run-options.js'
import { someTimes as percentiles } from '../../lib/measures/measure.js'
import { OPTIONS } from '../../settings.js'
import { measureSchema, publishedSchemas } from './published-schemas.js'

/** @import { Option } from '../../settings.js' */

const numbers = new Set(['integer', 'bytes', 'duration', 'seconds', 'rate', 'agents', 'listener'])

const camel = (/** @type {string} */ name) => name.replace(/-([a-z])/g, (_, letter) => letter.toUpperCase())

/** @param {Option} option */
const typeOf = ({ type, choices, repeatable }) => {
  if (type === 'flag') return 'boolean'
  if (type === 'choice' && choices) return choices.map((choice) => `'${choice}'`).join(' | ')
  if (numbers.has(type)) return 'number | string'
  return repeatable || type === 'choices' ? 'string | readonly string[]' : 'string'
}

/** @param {Option} option */
const member = (option) => `  /** ${option.help} */\n  ${camel(option.name)}?: ${typeOf(option)}`

const members = () =>
  OPTIONS.filter(
    ({ hidden, name, ...option }) =>
      !hidden &&
      !programOptions.includes(name) &&
      option.for.some((program) => program === 'producer' || program === 'consumer'),
  ).map(member)

const command = "  command?: 'write' | 'read'\n"

/** @type {Readonly<Record<string, string>>} */
const comments = {
  Measure: 'A measure by its name: `millrace metrics` lists them.',
  Warning: 'What was noticed in a run.',
  Percentiles: 'null: there were too few samples',
  RunPlan: 'What was asked for; what a kind of load has of its own is in it too.',
  ClientResult: 'What the process itself took.',
  NodeResult: 'What a node did.',
  Histogram: 'Percentiles of a second; hdr is the encoded histogram that they are of.',
}
/** @type {any} */
const { then: producer, else: other } = publishedSchemas['run.schema.json']
const { then: workers, else: consumer } = other
/** @type {any} */
const second = publishedSchemas['intervals.schema.json']
const kinds = [producer, consumer, workers]

/** An object without its being null, by which it is known. @param {any} schema */
const keyOf = ({ properties, required = [], additionalProperties }) =>
  JSON.stringify({ properties, required, additionalProperties })

/** What has a name of its own. */
const named = new Map([
  [keyOf(producer.properties.warnings.items), 'Warning'],
  [keyOf(measureSchema), 'Measure'],
  [keyOf(percentiles), 'Percentiles'],
  [keyOf(producer.properties.plan), 'RunPlan'],
  [keyOf(producer.properties.client), 'ClientResult'],
  [keyOf(producer.properties.nodes.items), 'NodeResult'],
  [keyOf(second.properties.latency_us.properties.intended), 'Histogram'],
])

const widest = 200
const property = (/** @type {string} */ name) => (/^[a-z_]\w*$/i.test(name) ? name : `'${name}'`)
const several = (/** @type {string[]} */ types) => [...new Set(types)].join(' | ')

/** The members of an object, a line each. @param {any} schema @param {string} indent */
const fields = ({ properties, required = [] }, indent) =>
  Object.entries(properties).map(([name, schema]) => {
    const note = schema.description ? `${indent}/** ${schema.description} */\n` : ''
    return `${note}${indent}${property(name)}${required.includes(name) ? '' : '?'}: ${typeOfSchema(schema, indent)}\n`
  })

/** @param {any} schema @param {string} indent */
const objectType = (schema, indent) => {
  const { properties, additionalProperties } = schema
  const name = named.get(keyOf(schema))
  if (name) return name
  if (!properties)
    return `Record<string, ${additionalProperties ? typeOfSchema(additionalProperties, indent) : 'unknown'}>`
  const lines = fields(schema, `${indent}  `)
  const inOne = `{ ${lines.map((line) => line.trim()).join('; ')} }`
  return inOne.length <= widest && !inOne.includes('\n') ? inOne : `{\n${lines.join('')}${indent}}`
}

/** @param {any} schema @param {string} indent */
const arrayType = ({ items, minItems, maxItems }, indent) => {
  const one = items ? typeOfSchema(items, indent) : 'unknown'
  if (minItems > 0 && minItems === maxItems) return `[${Array(minItems).fill(one).join(', ')}]`
  return !one.includes(' | ') || (one.startsWith('{') && one.endsWith('}')) ? `${one}[]` : `(${one})[]`
}

const constant = (/** @type {unknown} */ value) => (typeof value === 'string' ? `'${value}'` : String(value))

/** A schema as TypeScript. @param {any} schema @param {string} [indent] @returns {string} */
const typeOfSchema = (schema, indent = '') => {
  if ('const' in schema) return constant(schema.const)
  if (schema.enum) return several(schema.enum.map(constant))
  if (schema.anyOf) return several(schema.anyOf.map((/** @type {any} */ one) => typeOfSchema(one, indent)))
  const types = [schema.type ?? 'unknown'].flat().map((type) => {
    if (type === 'object') return objectType(schema, indent)
    if (type === 'array') return arrayType(schema, indent)
    return type === 'integer' ? 'number' : type
  })
  return several(types)
}

/** @param {string} name @param {any} schema @param {string} comment @param {string} [base] */
const interfaceOf = (name, schema, comment, base) =>
  `/** ${comment} */\nexport interface ${name}${base ? ` extends ${base}` : ''} {\n${fields(schema, '  ').join('')}}\n`

/** The properties of a schema that are not among those. @param {any} schema @param {object} those */
const without = ({ properties, required }, those) => ({
  properties: Object.fromEntries(Object.entries(properties).filter(([name]) => !(name in those))),
  required,
})

/** What each kind of run has alike. */
const shared = {
  properties: Object.fromEntries(
    Object.entries(producer.properties).filter(([name, schema]) =>
      kinds.every(({ properties }) => JSON.stringify(properties[name]) === JSON.stringify(schema)),
    ),
  ),
  required: producer.required,
}

const results = () =>
  [
    ...[...named].map(([key, name]) => interfaceOf(name, JSON.parse(key), comments[name])),
    interfaceOf('Result', shared, 'What each kind of run has in its run.json.'),
    interfaceOf('WriteResult', without(producer, shared.properties), 'Of writers and of clients.', 'Result'),
    interfaceOf('ReadResult', without(consumer, shared.properties), 'Of consumers.', 'Result'),
    interfaceOf('WorkResult', without(workers, shared.properties), 'Of the workers of a queue.', 'Result'),
    '/** run.json: docs/schemas/run.schema.json is its schema. */\nexport type RunResult = WriteResult | ReadResult | WorkResult\n',
    interfaceOf('Second', second, 'A line of intervals.ndjson.'),
    interfaceOf('RunEvent', publishedSchemas['events.schema.json'], 'A line of events.ndjson.'),
  ].join('\n')

/** @param {string} types @param {string} from @param {string} to @param {string} text that comes between them */
const between = (types, from, to, text) => {
  const start = types.indexOf(from)
  const end = types.indexOf(to, start)
  if (start < 0 || end < 0) throw new Error(`lib/index.d.ts lacks ${from.trim()} or ${to.trim()}`)
  return `${types.slice(0, start + from.length)}${text}${types.slice(end)}`
}

/** The file with the options as settings.js has them, and results as their schemas have them. @param {string} types */
export const typesFile = (types) => {
  const withOptions = between(types, command, '\n}\n', members().join('\n'))
  return between(withOptions, '// results\n\n', '\n// end of results\n', results())
}
