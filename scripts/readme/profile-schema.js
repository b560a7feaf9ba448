// The JSON Schema of profile.json.
const number = { type: 'number' }
const figure = { type: ['number', 'null'] }
const text = { type: 'string' }
const note = { type: ['string', 'null'] }
const flag = { type: 'boolean' }
/** @param {object} properties */
const object = (properties) => ({ type: 'object', properties, required: Object.keys(properties) })
/** @param {object} schema */
const orNull = (schema) => ({ anyOf: [schema, { type: 'null' }] })
/** @param {object} items */
const list = (items) => ({ type: 'array', items })

const estimate = { ...object({ value: number, low: number, high: number }), description: '95 % interval' }
const effect = object({
  now: number,
  other: number,
  change: {
    ...object({ value: number, low: number, high: number }),
    description: 'a share; below 0: cheaper',
  },
  is_cheaper: { ...flag, description: 'the interval does not include 0' },
})
const counts = { type: 'object', additionalProperties: number }

export const profileSchema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'profile.json: the answer of millrace profile',
  ...object({
    schema: { const: 1 },
    kind: { const: 'profile' },
    started: text,
    duration_s: number,
    interrupted: flag,
    anonymous: flag,
    server: object({
      versions: list(text),
      masters: number,
      replicas: number,
      replica_addresses: list(text),
      policy: note,
    }),
    keys: number,
    expiring_keys: number,
    keys_per_s: number,
    expiring_keys_per_s: number,
    stale_share: {
      ...number,
      description: 'of the keys that expire: those that have, and are still counted',
    },
    expired_per_s: number,
    evicted_per_s: number,
    names_seen: number,
    complete: { ...flag, description: 'SCAN has gone through all keys' },
    memory_bytes: number,
    commands_per_s: number,
    bytes_in_per_s: number,
    bytes_out_per_s: number,
    cpu_pct: number,
    noise: {
      ...object({ commands: figure, bytes_in: figure, bytes_out: figure, cpu: figure, gone: figure }),
      description: 'half of the 95 % interval of each rate, as a share of it',
    },
    miss_ratio: number,
    commands_per_read: number,
    clients: object({
      connections: number,
      busy: { ...figure, description: 'so many that send alike send as these do' },
      groups: list(
        object({
          name: text,
          connections: number,
          commands_per_s: figure,
          bytes_in_per_s: figure,
          bytes_out_per_s: figure,
        }),
      ),
    }),
    times_from: {
      ...note,
      description: 'LATENCY HISTOGRAM: of the time that was looked at; INFO: since the server started',
    },
    commands: list(
      object({
        name: text,
        per_s: number,
        share: number,
        us_per_call: number,
        p50_us: { ...figure, description: 'at most: the upper edge of a bucket' },
        p99_us: { ...figure, description: 'at most: the upper edge of a bucket' },
        is_data: flag,
      }),
    ),
    patterns: list(
      object({
        pattern: text,
        pieces: list(text),
        type: note,
        keys: estimate,
        sampled: number,
        name_bytes: number,
        encodings: counts,
        sizes: { ...list(number), description: 'bytes of strings, else elements: means of equal parts' },
        size: orNull(estimate),
        memory_of_key: orNull(estimate),
        memory_bytes: orNull(estimate),
        expiring: number,
        left_s: object({ median: figure, low: figure, high: figure, parts: list(number), most: figure }),
        uses_per_s: { ...figure, description: 'of a key, at least' },
        other_types: number,
      }),
    ),
    patterns_left_out: number,
    own: object({
      commands: number,
      commands_share: number,
      cpu_share: { ...number, description: 'of a core' },
      server_cpu_share: { ...number, description: "of the servers' own CPU" },
    }),
    key_sizes: {
      ...list(
        object({
          type: text,
          unit: { enum: ['bytes', 'elements'] },
          keys: number,
          median: { ...figure, description: 'at least: the lower edge of a bucket' },
          p99: { ...figure, description: 'at least: the lower edge of a bucket' },
          buckets: list(object({ at_least: number, keys: number })),
        }),
      ),
      description: 'of all keys, as INFO keysizes counts them',
    },
    log: orNull(
      object({
        from: text,
        length: number,
        groups: list(
          object({
            kind: { enum: ['slow', 'large-request', 'large-reply'] },
            command: text,
            pattern: note,
            count: number,
            most: { ...number, description: 'microseconds of a slow command, else bytes' },
          }),
        ),
      }),
    ),
    slots: orNull(
      list(
        object({
          slot: number,
          keys: number,
          cpu_share: { ...figure, description: 'of a core' },
          bytes_in_per_s: figure,
          bytes_out_per_s: figure,
        }),
      ),
    ),
    hot_keys: orNull(
      object({
        grammar: { enum: ['redis', 'valkey'] },
        tracked_s: figure,
        patterns: list(
          object({
            pattern: text,
            keys: number,
            cpu_share: { ...figure, description: 'of the time of all commands with keys' },
            busiest_cpu_share: { ...figure, description: 'of the key with the most time' },
            net_share: figure,
            per_s: figure,
          }),
        ),
      }),
    ),
    remarks: list(text),
    refused: list(text),
    not_offered: list(text),
    advice: {
      ...orNull(
        object({
          plays: number,
          advice: list(
            object({
              pattern: text,
              title: text,
              when: text,
              rounds: number,
              memory_bytes: effect,
              cpu_us: effect,
            }),
          ),
          silent: list(object({ pattern: text, title: text })),
        }),
      ),
      description: 'of --advise',
    },
    workload: object({
      file: text,
      rate: number,
      connections: number,
      reply_bytes: {
        ...number,
        description: 'of the replies of the file, as a share of what the server sent',
      },
      expected: {
        ...object({
          bytes_in_per_s: estimate,
          bytes_out_per_s: estimate,
          cpu_pct: estimate,
          memory_bytes: estimate,
          keys: estimate,
          left_s: orNull(estimate),
        }),
        description: 'what a profile of the replay shows',
      },
      assumptions: list(text),
      left_out: list(object({ name: text, share: number, why: text })),
    }),
  }),
}
