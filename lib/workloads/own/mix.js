// A model of reads and writes at their shares: each of its commands is about a key of a pattern, and how many keys there
// are, how large and how old they are is in the file. Which command is next, and about which key, follows from its number.
import { mix as hashed } from '../../base/random.js'
import { certain, exactly } from '../../base/typed.js'
import { payloadBody, stampBytes } from '../../traffic/payload.js'
import { storedBytes } from '../../traffic/sizes.js'
import { drawn, each, familyOf, fixed, number, sized, stamp } from '../declare.js'
import { modelDeclaration } from './model.js'
import { mixPattern, mixPlaceholders, patternOf, templateParts } from './template.js'

/**
 * @import { Mix, Family, Rule, Variable } from '../declare.js'
 * @import { OwnFields as PlanFields } from './fields.js'
 * @import { Placeholder } from './template.js'
 *
 * @typedef {object} MixKey
 * @property {string} pattern as commands name it, with {id}
 * @property {string} type
 * @property {number} keys that there are at any moment
 * @property {readonly number[]} bytes of a value or an element, all equally likely
 * @property {readonly number[] | null} use how often a live key of each size in `bytes` is named, beside others; null: all alike
 * @property {readonly number[]} elements of a key, all equally likely
 * @property {string} element what an element is called
 * @property {number | null} lifetime seconds that a write gives; null: keys stay
 * @property {readonly number[]} left seconds that a key has left at the start, all equally likely
 * @property {'text' | 'number'} value
 *
 * @typedef {object} MixCommand
 * @property {string} name
 * @property {readonly (readonly (string | Placeholder)[])[]} args
 * @property {ReadonlySet<number>} keyArgs which of them are keys
 * @property {MixKey} firstKey the pattern of its first key
 * @property {'safe' | 'never'} repeat
 *
 * @typedef {object} MixOperation
 * @property {number} share
 * @property {readonly MixCommand[]} commands in their order
 * @property {readonly { group: number, isTransaction: boolean, pauseMs: number }[] | null} sequence of each; null: there is one command, alone
 *
 * @typedef {{ name: string, title: string, keys: ReadonlyMap<string, MixKey>, mixed: readonly MixOperation[], file: Mix | null }} MixParts what its
 *   file says; null: its reads alone
 */

// Which command of a mix is next: a table in a drawn order that has each of them at its share, over and over. So how many
// of a kind came before number n is known without counting.

const places = 65_536

/** How many places each command has: its share, at least one. @param {readonly number[]} shares */
export const placesOfShares = (shares) => {
  const whole = shares.reduce((sum, share) => sum + share, 0)
  const exact = shares.map((share) => (share / whole) * places)
  const counts = exact.map((one) => Math.max(1, Math.floor(one)))
  const order = exact.map((one, i) => ({ i, rest: one - counts[i] })).sort((a, b) => b.rest - a.rest)
  let left = places - counts.reduce((sum, n) => sum + n, 0)
  for (let k = 0; left > 0; k++, left--) counts[order[k % order.length].i]++
  for (; left < 0; left++) counts[counts.indexOf(Math.max(...counts))]--
  return counts
}

/** @param {readonly MixOperation[]} operations @param {number} seed */
const mixScheduleOf = (operations, seed) => {
  // Each at a drawn moment of its turn: no command runs ahead of another by more than one. A moment and its command are
  // one number, as numbers are sorted ten times as fast as objects.
  const turns = new Float64Array(places)
  const salt = hashed(seed)
  let next = 0
  for (const [kind, count] of placesOfShares(operations.map(({ share }) => share)).entries())
    for (let i = 0; i < count; i++) {
      const at = (i + hashed(salt ^ (kind * places + i)) / 2 ** 32) / count
      turns[next++] = Math.floor(at * 2 ** 37) * places + kind
    }
  const table = Uint16Array.from(turns.sort(), (turn) => turn % places)
  /** @type {Map<string, Uint32Array>} */
  const counted = new Map()
  const countsOf = (/** @type {string} */ placeholder, /** @type {string} */ pattern) => {
    const isNamed = (/** @type {MixCommand} */ { args, keyArgs }) =>
      args.some(
        (parts, i) =>
          keyArgs.has(i) &&
          mixPattern(parts) === pattern &&
          parts.some((part) => typeof part === 'object' && part.name === placeholder),
      )
    const names = operations.map(({ commands }) => commands.some(isNamed))
    const sums = new Uint32Array(places + 1)
    for (let i = 0; i < places; i++) sums[i + 1] = sums[i] + (names[table[i]] ? 1 : 0)
    return sums
  }
  return {
    /** The kind of each command in turn. */
    picks: () => {
      let next = 0
      return () => table[next++ % places]
    },
    /** How many operations before number n name a key of the pattern so. @param {string} placeholder @param {string} pattern */
    before: (placeholder, pattern) => {
      const name = `${placeholder} ${pattern}`
      const sums = counted.get(name) ?? countsOf(placeholder, pattern)
      counted.set(name, sums)
      return (/** @type {number} */ n) => Math.floor((n - 1) / places) * sums[places] + sums[(n - 1) % places]
    },
  }
}

const span = 2 ** 32
// Beside a value and a name; of the forecast only.
const keyBytes = 110
const elementBytes = 40

/** From 0 to below `count`, each as likely. @param {number} n @param {number} salt @param {number} count */
const drawOf = (n, salt, count) => Math.floor((hashed(hashed(n) ^ salt) / span) * count)

/** Marks a closure by what it is about: models may differ although their closures have the same text. @template {Variable} T @param {T} variable @param {unknown} about @returns {T} */
const about = (variable, about) => Object.freeze({ ...variable, about })

const sizeStep = 7919
/** Which of the sizes a key has. @param {number} id @param {number} sizes */
const sizeOf = (id, sizes) => (id * sizeStep) % sizes

/** The live keys whose sizes are used more are named more often. @param {MixKey} key @param {number} salt */
const usedOf = ({ bytes: { length: sizes }, use, keys }, salt) => {
  if (!use || keys < sizes) return (/** @type {number} */ id) => id
  const all = use.reduce((sum, n) => sum + n, 0)
  const ends = use.map((_, i) => use.slice(0, i + 1).reduce((sum, n) => sum + n, 0) / all)
  const first = Array.from({ length: sizes }, (_, size) =>
    Array.from({ length: sizes }, (_, id) => id).findIndex((id) => sizeOf(id, sizes) === size),
  )
  return (/** @type {number} */ id, /** @type {number} */ n, /** @type {number} */ oldest) => {
    const at = hashed(hashed(n) ^ salt ^ 0x3c6ef372) / span
    const size = ends.findIndex((end) => at < end)
    // The next younger key of that size, or the next older one.
    const back = (((id - first[size]) % sizes) + sizes) % sizes
    return id - back >= oldest ? id - back : id - back + sizes
  }
}

/**
 * Numbers of keys of a pattern: 1 to `keys` are there at the start, new ones have the next numbers, and the oldest is
 * the first to go.
 * @param {MixKey} key
 * @param {Pick<ReturnType<typeof mixScheduleOf>, 'before'>} schedule
 * @param {number} seed
 */
const numbersOf = (key, { before }, seed) => {
  const { pattern, keys } = key
  const salt = hashed(seed ^ hashed(pattern.length * 31 + keys))
  const made = before('new', pattern)
  const gone = before('last', pattern)
  const followed = before('turn', pattern)
  const newest = (/** @type {number} */ n) => keys + made(n)
  const used = usedOf(key, salt)
  /** @type {Record<string, (n: number, which?: number) => number>} */
  const byName = {
    new: (n) => newest(n) + 1,
    live: (n, which = 1) => {
      const last = newest(n)
      const oldest = last - keys + 1
      const first = used(last - drawOf(n, salt, keys), n, oldest)
      return Math.max(1, which === 1 ? first : oldest + ((first - oldest + which - 1) % keys))
    },
    // Two behind, so that it was made.
    turn: (n) => Math.max(1, keys + followed(n) - 1),
    last: (n) => gone(n) + 1,
    // Never written: above all that a run can make.
    missing: (n) => 1e12 + drawOf(n, salt, keys),
    own: (n) => 2e12 + n,
  }
  return byName
}

/** @param {PlanFields} t @param {MixKey} key @param {(n: number) => number} pick which of the sizes @param {number} [lead] bytes in front of it */
const bodyOf = (t, { bytes }, pick, lead = 0) => {
  const most = Math.max(...bytes) - lead
  const { put } = payloadBody({ payload: t.payload, seed: t.seed, stamp: false, valueBytes: most })
  const variable =
    Math.min(...bytes) - lead === most
      ? fixed('bytes', most, put)
      : sized('bytes', { widthOf: (n) => bytes[pick(n)] - lead, most, put })
  return about(variable, bytes)
}

// Above the numbers of all keys of a pattern.
const numbersOfPattern = 2 ** 43

// Where the value is, of how many arguments. With NX and the like nothing may be written.
const writing = exactly({ SET: [1, 2], SETEX: [2, 3], PSETEX: [2, 3] })

/** What an operation does with the whole value of a string, and which argument that is; null: nothing. @param {MixOperation} operation */
const wholeValue = ({ commands: [{ name, args, firstKey }], sequence }) => {
  const { type, value, bytes, pattern } = firstKey
  const isOfOne = args[0]?.every((part) => typeof part === 'string' || part.args.length === 0)
  if (sequence || !isOfOne || type !== 'string' || value !== 'text' || Math.min(...bytes) <= stampBytes)
    return null
  if (name === 'GET') return { pattern, isRead: true, at: -1 }
  const [at, count] = Object.hasOwn(writing, name) ? writing[/** @type {'SET'} */ (name)] : []
  if (at === undefined) return null
  const [body, ...more] = args[at] ?? []
  const isBody = typeof body === 'object' && body.name === 'bytes' && more.length === 0
  const isPlain =
    args.length === count || (name === 'SET' && args.length === 4 && /^(EX|PX)$/i.test(String(args[2])))
  return isBody && isPlain ? { pattern, isRead: false, at } : null
}

// With them, a key may have another's value.
const moving = /^(RENAME|COPY|RESTORE|EVAL|FCALL)/

/** Whether a pattern has whole values that are written, and read. @param {readonly MixOperation[]} mixed */
const comparesIn = (mixed) => {
  if (mixed.some(({ commands }) => commands.some(({ name }) => moving.test(name)))) return false
  const all = mixed.flatMap((operation) => wholeValue(operation) ?? [])
  return all.some(
    ({ isRead, pattern }) => isRead && all.some((one) => !one.isRead && one.pattern === pattern),
  )
}

/**
 * The variables of a command about one pattern.
 * @param {PlanFields} t
 * @param {MixKey} key
 * @param {(n: number) => number} numberOf of the key
 */
const variablesOf = (t, key, numberOf) => {
  const { elements, bytes, lifetime, left, keys } = key
  const idOf = (/** @type {number} */ n) => Math.max(1, numberOf(n))
  const size = (/** @type {number} */ n) => elements[(idOf(n) - 1) % elements.length]
  const own = (/** @type {number} */ n) => sizeOf(idOf(n), bytes.length)
  const sorted = [...left].sort((a, b) => a - b)
  /** @type {Record<string, (args: number[]) => Variable | number>} */
  const byName = {
    id: () => number('id', idOf),
    bytes: () => bodyOf(t, key, key.type === 'string' ? own : (n) => drawOf(n, 0x2f6e2b1, bytes.length)),
    element: ([percent = 100]) =>
      about(
        number('element', (n) => 1 + drawOf(n, 0x5bd1e995, Math.max(1, (size(n) * percent) / 100))),
        [elements, percent],
      ),
    add: () => number('add', (n) => 1e9 + n),
    random: ([from, to]) =>
      drawn(`random ${from} ${to}`, (n) => from + drawOf(n, 0x1b873593, to - from + 1), [from, to + 1]),
    lifetime: () => lifetime ?? 0,
    // The older a key, the less it has left.
    left: () =>
      about(
        number(
          'left',
          (n) => sorted[Math.min(sorted.length - 1, Math.floor(((idOf(n) - 1) * sorted.length) / keys))],
        ),
        sorted,
      ),
  }
  return byName
}

/** @param {MixKey} key */
const partsOfPattern = ({ pattern }) =>
  templateParts(pattern, 0, mixPlaceholders).map((part) =>
    typeof part === 'string' ? part : number('id', (n) => n),
  )

/** @param {MixKey} key */
const meanOf = (key) => ({
  elements: key.elements.reduce((sum, n) => sum + n, 0) / key.elements.length,
  bytes: key.bytes.reduce((sum, n) => sum + n, 0) / key.bytes.length,
})

/** @param {MixKey} key @param {string} prefix */
const familyIn = (key, prefix) => {
  const parts = partsOfPattern(key)
  const [head] = parts
  const mean = meanOf(key)
  const rest = parts
    .slice(typeof head === 'string' ? 1 : 0)
    .map((part) =>
      typeof part === 'string' ? part.replace(/[\\^$.|?*+()[\]{}]/g, '\\$&') : '[1-9]\\d{0,15}',
    )
    .join('')
  const stored = storedBytes({ valueBytes: mean.bytes, seed: 0 })
  return familyOf(key.pattern, key.type, parts, {
    lifetimeS: key.lifetime,
    keys: key.keys,
    bytes:
      keyBytes +
      prefix.length +
      (key.type === 'string' ? stored : mean.elements * (elementBytes + mean.bytes)),
    ...(parts.length > 1 && {
      shape: { head: typeof head === 'string' ? head : '', rest: new RegExp(`^${rest}$`) },
    }),
  })
}

/** How a key is made before a run: its commands, each a template, and how often. @param {MixKey} key */
const fillsOf = (key) => {
  const { type, left, keys, element, value, elements } = key
  const body = value === 'number' ? '{random 1 999}' : '{bytes}'
  const pattern = key.pattern
  if (type === 'string')
    return [{ count: keys, line: `SET ${pattern} ${body}${left.length > 0 ? ' EX {left}' : ''}` }]
  /** @type {Record<string, string>} */
  const lines = {
    hash: `HSET ${pattern} ${element} ${body}`,
    set: `SADD ${pattern} ${element}`,
    zset: `ZADD ${pattern} {random 0 1000000} ${element}`,
    list: `RPUSH ${pattern} ${body}`,
    stream: `XADD ${pattern} * f ${body}`,
  }
  const line = lines[type]
  const block = elements.reduce((sum, n) => sum + n, 0)
  const rounds = Math.floor(keys / elements.length)
  const rest = elements.slice(0, keys % elements.length).reduce((sum, n) => sum + n, 0)
  return [
    { count: rounds * block + rest, line, isElement: true },
    ...(left.length > 0 ? [{ count: keys, line: `EXPIRE ${pattern} {left}` }] : []),
  ]
}

/** Which key and which of its elements is number n of all elements. @param {readonly number[]} elements */
const placesOf = (elements) => {
  const ends = elements.map((_, k) => elements.slice(0, k + 1).reduce((sum, n) => sum + n, 0))
  const block = certain(ends.at(-1))
  const at = new Uint16Array(block)
  for (let i = 0, k = 0; i < block; i++) {
    while (i >= ends[k]) k++
    at[i] = k
  }
  return {
    key: (/** @type {number} */ n) => Math.floor((n - 1) / block) * elements.length + at[(n - 1) % block] + 1,
    element: (/** @type {number} */ n) => {
      const i = (n - 1) % block
      return i - ends[at[i]] + elements[at[i]] + 1
    },
  }
}

/** What decides the slot of a key. @param {readonly (string | Placeholder)[]} parts */
const tagOf = (parts) => {
  const text = patternOf(parts)
  return /\{\{(.+?)\}\}(?!\})/.exec(text)?.[1] ?? text
}

/** Two keys of one operation that may be in different slots, in words; null: there are none. @param {MixOperation} operation */
const keysApart = ({ commands }) => {
  const all = commands.flatMap(({ args, keyArgs }) => args.filter((_, i) => keyArgs.has(i)))
  const other = all.find((parts) => tagOf(parts) !== tagOf(all[0]))
  return other ? `${patternOf(all[0])} and ${patternOf(other)}` : null
}

/** @param {readonly MixOperation[]} mixed @returns {readonly Rule[]} */
const rulesOf = (mixed) => [
  (s) => s.fill === 'populate' && '--fill populate makes strings only; --fill fills this model',
  (s, named) => {
    const apart = s.cluster ? mixed.map(keysApart).find((found) => found !== null) : undefined
    return (
      apart &&
      `${named('cluster')}: ${apart} are in different slots of a cluster; give them a part in braces in common, as in user:{{{id}}}:name`
    )
  },
]

/** @typedef {NonNullable<MixOperation['sequence']>[number]} Sequence */

/** @param {PlanFields} t @param {Record<string, Family>} k @param {ReturnType<typeof fillsOf>[number] & { key: MixKey }} fill */
const fillCommand = (t, k, { key, line, isElement = false }) => {
  const places = placesOf(key.elements)
  const variables = variablesOf(t, key, isElement ? places.key : (n) => n)
  if (isElement) variables.element = () => number('element', places.element)
  const [command, of, ...args] = line.split(' ')
  const isInBraces = (/** @type {string[]} */ words) => {
    // A placeholder with blanks is one word.
    /** @type {string[]} */
    const whole = []
    for (const word of words)
      if (/\{[^}]*$/.test(whole.at(-1) ?? '')) whole.push(`${whole.pop()} ${word}`)
      else whole.push(word)
    return whole
  }
  const [pattern, ...rest] = isInBraces([of, ...args])
  const atoms = (/** @type {string} */ word) =>
    templateParts(word, 0, mixPlaceholders).map((part) =>
      typeof part === 'string' ? part : variables[part.name](part.args),
    )
  return each(command, [
    Object.freeze({ ...k[key.pattern], parts: atoms(pattern).map(asPart) }),
    ...rest.map((word) => joined(atoms(word))),
  ])
}

/** @param {MixParts} mix */
export const declarationOfMix = ({ name, title, keys, mixed, file }) => {
  /** @type {Map<number, ReturnType<typeof mixScheduleOf>>} */
  const schedules = new Map()
  const scheduleFor = (/** @type {number} */ seed) => {
    const known = schedules.get(seed) ?? mixScheduleOf(mixed, seed)
    schedules.set(seed, known)
    return known
  }
  const all = [...keys.values()]
  const wholes = new Map(mixed.map((operation) => [operation.commands[0], wholeValue(operation)]))
  const fills = all.flatMap((key, i) =>
    fillsOf(key).map((fill, j) => ({ ...fill, key, play: `fill ${i} ${j}` })),
  )
  const plays = mixed.map((_, i) => `command ${i + 1}`)

  /** @param {PlanFields} t @param {Record<string, Family>} k @param {MixCommand} command @param {MixKey} leading whose keys the operation names @param {Sequence} [sequence] */
  const commandOf = (t, k, command, leading, sequence) => {
    const { firstKey } = command
    const numbers = numbersOf(leading, scheduleFor(t.seed), t.seed)
    const named = command.args
      .flat()
      .find((part) => typeof part === 'object' && Object.hasOwn(numbers, part.name))
    const idOf = typeof named === 'object' ? numbers[named.name] : () => 1
    const variables = variablesOf(t, firstKey, idOf)
    const whole = (t.versions && wholes.get(command)) || null
    const isStamped = whole !== null && !whole.isRead
    const atom = (/** @type {string | Placeholder} */ part) => {
      if (typeof part === 'string') return part
      if (Object.hasOwn(numbers, part.name)) {
        const of = numbers[part.name]
        const [which = 1] = part.args
        return about(number('id', which === 1 ? (n) => of(n) : (n) => of(n, which)), [
          which === 1 ? part.name : `${part.name} ${which}`,
          leading.keys,
          leading.use,
        ])
      }
      if (part.name === 'bytes' && isStamped)
        return bodyOf(t, firstKey, (n) => sizeOf(Math.max(1, idOf(n)), firstKey.bytes.length), stampBytes)
      return variables[part.name](part.args)
    }
    const pattern = all.indexOf(firstKey) * numbersOfPattern
    const compared = whole && ((/** @type {number} */ n) => pattern + idOf(n))
    const slots = command.args.map((parts, i) =>
      command.keyArgs.has(i)
        ? Object.freeze({ ...k[mixPattern(parts)], parts: parts.map(atom).map(asPart) })
        : joined(isStamped && i === whole.at ? [stamp, ...parts.map(atom)] : parts.map(atom)),
    )
    const { repeat } = command
    return each(command.name, slots, {
      repeat,
      ...(sequence && { sequence }),
      ...(t.versions && { compared }),
    })
  }

  return modelDeclaration({
    name,
    title,
    play: Object.freeze({ flow: exactly('clients'), operations: plays }),
    options: Object.freeze(['fill', 'connections', 'pipeline', 'arrivals', 'reconnectHz', 'requests']),
    defaultItems: all.reduce((sum, key) => sum + key.keys, 0),
    rules: rulesOf(mixed),
    keys: (/** @type {PlanFields} */ t) =>
      Object.fromEntries(all.map((key) => [key.pattern, familyIn(key, t.prefix)])),
    operations: (/** @type {PlanFields} */ t, /** @type {Record<string, Family>} */ k) => ({
      ...Object.fromEntries(
        mixed.map(({ commands, sequence }, i) => [
          plays[i],
          commands.map((command, j) => commandOf(t, k, command, commands[0].firstKey, sequence?.[j])),
        ]),
      ),
      ...Object.fromEntries(fills.map((fill) => [fill.play, [fillCommand(t, k, fill)]])),
    }),
    mix: {
      file,
      picks: (/** @type {PlanFields} */ t) => scheduleFor(t.seed).picks(),
      compares: comparesIn(mixed),
    },
    fill: { several: fills.map(({ play, count }) => ({ play, count })) },
    repeat: 'safe',
  })
}

/** Of a key. @param {string | number | Variable} atom */
const asPart = (atom) => (typeof atom === 'number' ? String(atom) : atom)

/** @param {(string | number | Variable)[]} atoms */
const joined = (atoms) => (atoms.length === 1 ? atoms[0] : atoms)
