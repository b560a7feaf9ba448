// What a model in YAML may hold; what the texts in it mean, compile.js checks.
import { needNames } from '../needs.js'
import { longestLifetimeS } from './commands.js'

const text = { type: 'string', minLength: 1 }
const lifetime = { anyOf: [{ type: 'integer', minimum: 1, maximum: longestLifetimeS }, { const: 'ttl' }] }
const types = ['string', 'list', 'set', 'zset', 'hash', 'stream']

export const namePattern = '^[a-z][a-z0-9-]{0,39}$'

// Names of what is counted of replies, which are parts of names of metrics.
const replyName = { type: 'string', pattern: '^[a-z][a-z0-9_]{0,29}$' }

/** What a command may count. */
export const repliesSchema = {
  counts: {
    type: 'object',
    minProperties: 1,
    additionalProperties: false,
    properties: Object.fromEntries(['zero', 'one', 'other', 'nil', 'bulk'].map((kind) => [kind, replyName])),
  },
  number: replyName,
}

/** What the model is good for, as `millrace choose` asks. */
export const meetsSchema = { type: 'array', items: { enum: [...needNames] } }

export const schema = Object.freeze({
  type: 'object',
  additionalProperties: false,
  required: ['write'],
  properties: {
    name: { type: 'string', pattern: namePattern },
    title: text,
    meets: meetsSchema,
    keys: {
      type: 'object',
      minProperties: 1,
      additionalProperties: {
        type: ['string', 'object'],
        additionalProperties: false,
        required: ['type'],
        properties: { type: { enum: types }, lifetime },
        if: { type: 'string' },
        // biome-ignore lint/suspicious/noThenProperty: a word of JSON Schema
        then: { enum: types },
      },
    },
    write: {
      type: 'array',
      minItems: 1,
      items: {
        type: ['string', 'object'],
        minLength: 1,
        additionalProperties: false,
        required: ['command'],
        properties: {
          command: text,
          every: { type: 'string', pattern: '^\\d+(ms|s|m)$' },
          per: { enum: ['item', 'tick'] },
          retry: { enum: ['safe', 'never'] },
          ...repliesSchema,
        },
      },
    },
    read: {
      type: 'object',
      additionalProperties: false,
      required: ['ids'],
      properties: { ids: text, id: text, value: text },
    },
  },
})
