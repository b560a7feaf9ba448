// The JSON Schemas that ship with the package: what this version writes, where lib/result/record.js says what it reads.

import { schema as scaleSchema } from '../../lib/answers/scale.js'
import { schema as staffSchema } from '../../lib/answers/staff.js'
import { warningShape } from '../../lib/measures/head.js'
import { CONSUMER, PRODUCER, SECOND, WORKERS } from '../../lib/result/record.js'

const number = { type: 'number' }
const text = { type: 'string' }
const dialect = 'http://json-schema.org/draft-07/schema#'

export const measureSchema = {
  type: 'object',
  properties: {
    name: text,
    value: number,
    unit: { enum: ['us', 'ms', 's', 'pct', 'bytes', 'mb', 'count', 'rate', 'ratio'] },
    better: { enum: ['less', 'more', 'neither'] },
    count: { type: ['integer', 'null'], description: 'independent samples behind it; null: not counted' },
    spread: { type: ['number', 'null'], description: 'the value is known to within this; null: not known' },
  },
  required: ['name', 'value', 'unit', 'better', 'count', 'spread'],
}

const thresholdSchema = {
  type: 'object',
  properties: {
    threshold: text,
    name: text,
    value: { type: ['number', 'null'] },
    passed: { type: 'boolean' },
  },
  required: ['threshold', 'name', 'value', 'passed'],
}

/** @type {any} */
const { nodes } = PRODUCER.properties
const { items: node } = nodes
const nodeSchema = {
  ...node,
  properties: { ...node.properties, role: { enum: ['master', 'replica'] } },
  required: Object.keys(node.properties).filter((name) => name !== 'sampled_s' && name !== 'cpu_upper_bound'),
}

/** @param {{ properties: object, required: string[] }} document @param {'producer' | 'consumer'} kind */
const ofKind = (document, kind) => ({
  ...document,
  properties: {
    ...document.properties,
    kind: { const: kind },
    warnings: { type: 'array', items: { ...warningShape, required: ['code', 'message', 'invalidates'] } },
    nodes: { type: 'array', items: nodeSchema },
    thresholds: { type: 'array', items: thresholdSchema },
    command_line: text,
    state: { enum: ['valid', 'partial', 'not-valid'] },
    measures: { type: 'array', items: measureSchema },
  },
  required: [...document.required, 'kind', 'valid', 'state', 'interrupted', 'measures'],
})

const stamped = { run: text, epoch_ms: { type: 'integer', minimum: 0 }, at_ms: number }

/** By the names of their files. @type {Readonly<Record<string, object>>} */
export const publishedSchemas = Object.freeze({
  'run.schema.json': {
    $schema: dialect,
    title: 'run.json: the result of a run',
    type: 'object',
    properties: { kind: { enum: ['producer', 'consumer'] } },
    required: ['kind'],
    if: { type: 'object', properties: { kind: { const: 'producer' } } },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: ofKind(PRODUCER, 'producer'),
    else: {
      if: { type: 'object', required: ['jobs'] },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: ofKind(WORKERS, 'consumer'),
      else: ofKind(CONSUMER, 'consumer'),
    },
  },
  'intervals.schema.json': {
    $schema: dialect,
    title: 'A line of intervals.ndjson: a second of a run',
    ...SECOND,
    properties: { ...SECOND.properties, ...stamped },
    required: ['run', 'epoch_ms', 'at_ms', 'client', 'nodes'],
  },
  'events.schema.json': {
    $schema: dialect,
    title: 'A line of events.ndjson: something that happened in a run',
    type: 'object',
    properties: { ...stamped, kind: text, text },
    required: ['run', 'epoch_ms', 'at_ms', 'kind', 'text'],
  },
  'staff.schema.json': staffSchema,
  'scale.schema.json': scaleSchema,
})
