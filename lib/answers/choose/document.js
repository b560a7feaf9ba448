// choose.json and its JSON Schema. Pure.
import { candidatesAnswer } from './answer.js'
import { metricNames } from './cost.js'
import { chooseSentence } from './text.js'

/**
 * @import { CandidateAnswer } from './answer.js'
 * @import { Excluded } from './candidates.js'
 * @import { Turnover } from './turnover.js'
 *
 * @typedef {object} ChooseAnswer
 * @property {1} schema
 * @property {'choose'} kind
 * @property {string} started
 * @property {number} duration_s
 * @property {string} command_line
 * @property {{ millrace: string, node: string, servers: string[] }} versions
 * @property {string} hardware
 * @property {{ needs: string[], rate: number, items: number, ttl: string, value_size: string, reads: { per_s: number, limit: number } | null, weigh: Record<string, number>, across: string }} asked
 * @property {'best' | 'same' | 'unclear' | 'none'} state
 * @property {string | null} chosen
 * @property {string} sentence
 * @property {string[]} gives_up by the chosen one
 * @property {CandidateAnswer[]} candidates the chosen one first
 * @property {Excluded[]} excluded
 * @property {{ found: Turnover[], unknown: string[] } | null} turnovers null: no calibration was given
 * @property {number} rounds
 * @property {number} runs
 * @property {string[]} warnings
 */

/**
 * @param {Pick<ChooseAnswer, 'started' | 'duration_s' | 'command_line' | 'versions' | 'hardware' | 'asked' | 'excluded' | 'turnovers' | 'warnings'>} facts
 * @param {Parameters<typeof candidatesAnswer>[0]} found
 * @returns {ChooseAnswer}
 */
export const chooseDocument = (facts, found) => {
  const candidates = candidatesAnswer(found)
  const { state, chosen, rounds, runs } = found.decision
  const answer = {
    schema: /** @type {const} */ (1),
    kind: /** @type {const} */ ('choose'),
    ...facts,
    state,
    chosen: chosen === null ? null : found.candidates[chosen].name,
    gives_up: chosen === null ? [] : found.candidates[chosen].gives_up,
    candidates,
    rounds,
    runs,
  }
  return { ...answer, sentence: chooseSentence(answer) }
}

const number = { type: 'number' }
const figure = { type: ['number', 'null'] }
const text = { type: 'string' }
const note = { type: ['string', 'null'] }
/** @param {object} properties */
const object = (properties) => ({ type: 'object', properties, required: Object.keys(properties) })
/** @param {object} schema */
const orNull = (schema) => ({ anyOf: [schema, { type: 'null' }] })
/** @param {object} items */
const list = (items) => ({ type: 'array', items })
/** @param {object} schema */
const byMetric = (schema) => object(Object.fromEntries(metricNames.map((name) => [name, orNull(schema)])))
const ratio = object({ ratio: number, low: figure, high: figure })

export const chooseSchema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'choose.json: the answer of millrace choose',
  ...object({
    schema: { const: 1 },
    kind: { const: 'choose' },
    started: text,
    duration_s: number,
    command_line: text,
    versions: object({ millrace: text, node: text, servers: list(text) }),
    hardware: text,
    asked: object({
      needs: list(text),
      rate: { ...number, description: 'items a second at which the candidates ran' },
      items: number,
      ttl: text,
      value_size: text,
      reads: orNull(object({ per_s: number, limit: number })),
      weigh: { type: 'object', additionalProperties: number },
      across: { enum: ['models', 'servers'] },
    }),
    state: { enum: ['best', 'same', 'unclear', 'none'] },
    chosen: note,
    sentence: text,
    gives_up: list(text),
    candidates: list(
      object({
        name: text,
        model: text,
        server: note,
        simplicity: number,
        gives_up: list(text),
        place: { enum: ['chosen', 'alike', 'left', 'worse', 'halved', 'not-counted', 'refused'] },
        rounds: number,
        runs: number,
        not_valid: number,
        dominated: {
          type: 'boolean',
          description: 'another one costs less of CPU or memory, and not more of the other',
        },
        cost: orNull(
          object({
            ...{ ratio: number, low: figure, high: figure },
            verdict: { enum: ['better', 'worse', 'same', 'unclear', null] },
          }),
        ),
        metrics: byMetric(object({ value: number, low: number, high: number })),
        against_chosen: orNull(byMetric(ratio)),
        why: note,
      }),
    ),
    excluded: list(object({ name: text, unmet: list(text) })),
    turnovers: orNull(
      object({
        found: list(
          object({ other: text, rate: number, items: number, cheaper_above: text, cheaper_below: text }),
        ),
        unknown: list(text),
      }),
    ),
    rounds: number,
    runs: number,
    warnings: list(text),
  }),
}
