// The JSON Schema of find.json.
const number = { type: 'number' }
const figure = { type: ['number', 'null'] }
const text = { type: 'string' }
const note = { type: ['string', 'null'] }
const flag = { type: 'boolean' }
/** @param {object} properties @param {string[]} [required] */
const object = (properties, required = Object.keys(properties)) => ({ type: 'object', properties, required })
/** @param {object} schema */
const orNull = (schema) => ({ anyOf: [schema, { type: 'null' }] })
/** @param {object} items */
const list = (items) => ({ type: 'array', items })

const times = orNull(object({ p50: number, p90: number, p99: number, p999: number, max: number }))
const band = { low: number, middle: number, high: number }

export const findSchema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'find.json: the answer of millrace find',
  ...object({
    schema: { const: 1 },
    kind: { const: 'find' },
    run: text,
    started: note,
    command_line: note,
    versions: { type: ['object', 'null'] },
    strategy: note,
    items: figure,
    unit: text,
    objectives: list(text),
    share: number,
    within: orNull(list(number)),
    state: { enum: ['found', 'at-least', 'none', 'changed', 'unsteady', 'stopped'] },
    sentence: text,
    find: object({ low: figure, middle: figure, high: figure }),
    none_from: figure,
    confirmed: orNull(object({ rate: number, passed: number, seconds: number })),
    change: orNull(object({ before: number, after: number, at: number, at_ms: figure })),
    seconds_of_load: number,
    missed_above: note,
    missed_over_confirmation: list(object({ threshold: text, name: text, value: figure, passed: flag })),
    limit: orNull(
      object({
        part: { enum: ['server', 'replica', 'client', 'connections', 'unknown'] },
        value: figure,
        words: text,
      }),
    ),
    warnings: list(object({ code: text, message: text })),
    thresholds: list(object({ threshold: text, value: figure, passed: flag })),
    seconds: list(
      object({
        at_ms: number,
        phase: { enum: ['warm-up', 'limit', 'bracket', 'measure', 'recover', 'confirm'] },
        rate: { ...figure, description: 'offered; null: as fast as the servers accepted it' },
        achieved: number,
        items: { type: 'object', additionalProperties: number },
        latency_us: object({ intended: times, service: times }),
        bystander_us: times,
        client: object({ busy_pct: figure, thread_cpu_pct: figure, cpu_pct: figure }),
        backlog_grows: {
          ...flag,
          description: 'at a constant rate a limit would be missed later, though not in this second',
        },
        waited_ms: { ...number, description: 'how long what was answered last in it had waited' },
        client_limited: { ...flag, description: 'the sending thread was full with its own work' },
        after_pass: { ...flag, description: 'the second before it passed' },
        missed: { ...note, description: 'the first objective that it did not meet' },
        passed: flag,
      }),
    ),
    curve: list(object({ rate: number, ...band })),
    path: list(object({ at_ms: number, ...band })),
    confirmation: { type: ['object', 'null'] },
    readers: {
      type: ['object', 'null'],
      description:
        'of --with-read: what consumers fetched, or workers did, during the confirmation, in the words of their run.json',
    },
  }),
}

const searched = object({
  state: { enum: ['found', 'at-least', 'none', 'changed', 'unsteady', 'stopped'] },
  find: object({ low: figure, middle: figure, high: figure }),
  sentence: text,
  folder: text,
})

export const compareFindSchema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'compare.json of millrace compare A B --find',
  ...object({
    schema: { const: 1 },
    kind: { const: 'compare-find' },
    started: text,
    duration_s: number,
    command: text,
    versions: object({ millrace: text, node: text }),
    hardware: text,
    baseline: text,
    other: text,
    sentence: text,
    ratio: {
      ...object({
        ...{ rounds: number, a: figure, b: figure, ratio: figure, low: figure, high: figure },
        unsteady: { ...number, description: 'searches in these rounds that were not steady' },
      }),
      description:
        'of the most likely rates, b to a, with a 95 % interval over the rounds in which both sides have one',
    },
    rounds: list(object({ round: number, first: { enum: ['a', 'b'] }, a: searched, b: searched })),
  }),
}
