// A workload file of a profile: a mix (docs/reference/own-model.md) with as many keys, of the same types and sizes, and the same
// commands at their shares. Comments of the file name what is assumed, as no counter reports it. Pure.
import { typeOfCommand } from '../../workloads/own/commands.js'
import { commandForms, elementBytes } from './command-forms.js'
import { expectedOf, halfOf } from './expected.js'
import { z } from './profile.js'

/**
 * @import { Profile, ProfilePattern } from './profile.js'
 *
 * @typedef {object} WorkloadKey
 * @property {ProfilePattern} from
 * @property {string} name with {id}
 * @property {string} type
 * @property {number} keys
 * @property {number[]} elements
 * @property {number[]} bytes
 * @property {number[] | null} use how often keys of each size are used, beside others; null: all alike
 * @property {string} element
 * @property {boolean} isNumber values are numbers
 * @property {number | null} lifetime
 * @property {number[]} left
 * @property {boolean} isLifetimeDerived its lifetime follows from how many keys are made
 * @property {number} createdPerS
 * @property {number} removedPerS
 *
 * @typedef {{ command: string, per_s: number, of: string }} WorkloadCommand
 * @typedef {{ name: string, share: number, why: string }} LeftOut
 */

/** Types of keys that a command is about; null: any. @param {string} name */
const typeFor = (name) => typeOfCommand(name.toUpperCase()) ?? null

/** Commands that create a missing key. */
const creators = new Set(
  'set setex psetex setnx getset append incr decr incrby decrby mset setbit hset hmset hsetnx sadd zadd zincrby lpush rpush xadd'.split(
    ' ',
  ),
)

const removers = new Set(['del', 'unlink'])

const sum = (/** @type {readonly number[]} */ numbers) => numbers.reduce((all, n) => all + n, 0)
const mean = (/** @type {readonly number[]} */ numbers) => sum(numbers) / Math.max(1, numbers.length)
const most = (/** @type {Record<string, number>} */ counts) =>
  Object.entries(counts).sort((a, b) => b[1] - a[1])[0]?.[0] ?? ''
const whole = (/** @type {readonly number[]} */ numbers) => numbers.map((n) => Math.max(1, Math.round(n)))

/** A pattern with one number, and names as long as those of the server on average. @param {ProfilePattern} pattern @param {number} keys @param {ReadonlySet<string>} taken */
const nameOf = ({ pattern, name_bytes: nameBytes }, keys, taken) => {
  let isFirst = true
  const marked = pattern.replace(/\{\{|\}\}|\{\w+\}/g, (token) => {
    if (token === '{{' || token === '}}') return token
    const kept = isFirst ? '{id}' : ''
    isFirst = false
    return kept
  })
  // Keys that begin with millrace: are those of Millrace.
  const safe = marked.replace(/^millrace:/i, 'app:')
  if (isFirst && keys === 1) return taken.has(safe) ? null : safe
  const numbered = isFirst ? `${safe}{id}` : safe
  const digits = mean([String(keys).length, String(Math.ceil(keys / 2)).length])
  const bare = numbered.replace('{id}', '').replaceAll('{{', '{').replaceAll('}}', '}').length
  let pad = 'x'.repeat(Math.max(0, Math.min(400, Math.round(nameBytes - bare - digits))))
  while (taken.has(numbered.replace('{id}', `${pad}{id}`))) pad += 'y'
  return numbered.replace('{id}', `${pad}{id}`)
}

/** Keys of a pattern for the file; null: they cannot be generated. @param {ProfilePattern} from @param {ReadonlySet<string>} taken @returns {WorkloadKey | null} */
const keyOf = (from, taken) => {
  const { type, keys: estimate, sizes, expiring, left_s: left } = from
  const keys = Math.max(1, Math.round(estimate.value))
  const name = from.pieces[0] === '(others)' ? null : nameOf(from, keys, taken)
  if (name === null || type === null || !['string', 'list', 'set', 'zset', 'hash', 'stream'].includes(type))
    return null
  const encoding = most(from.encodings)
  const isString = type === 'string'
  const elements = isString ? [1] : whole(sizes.length > 0 ? sizes : [1])
  const each = isString ? 0 : elementBytes(from, encoding, mean(sizes))
  const digits = String(Math.ceil(mean(elements) / 2)).length
  const isNamed = type === 'set' || type === 'zset'
  const lifetime = expiring > 0.5 && left.most !== null ? Math.max(1, Math.ceil(left.most)) : null
  return {
    from,
    name,
    type,
    keys,
    elements,
    lifetime,
    use: null,
    isLifetimeDerived: false,
    createdPerS: 0,
    removedPerS: 0,
    bytes: isString
      ? whole(sizes.length > 0 ? sizes : [16])
      : [isNamed ? 1 : Math.max(1, type === 'hash' ? each - digits - 1 : each)].map(Math.round),
    element:
      encoding === 'intset'
        ? '{element}'
        : `e${isNamed ? 'x'.repeat(Math.max(0, Math.min(4000, Math.round(each - digits - 1)))) : ''}{element}`,
    isNumber: isString && encoding === 'int',
    left: lifetime === null ? [] : left.parts.map((s) => Math.max(1, Math.round(s))),
  }
}

/** How often patterns are used, where servers report it; otherwise by their keys. @param {readonly WorkloadKey[]} keys */
const weightsOf = (keys) => {
  const isKnown = keys.every(({ from }) => from.uses_per_s !== null)
  const raw = keys.map((key) => key.keys * (isKnown ? Number(key.from.uses_per_s) : 1))
  const all = sum(raw)
  return raw.map((weight) => weight / all)
}

// The share of writes that create a key, of those that can create one with a lifetime.
const mostlyNew = 0.8

/**
 * Sets the lifetime of a key. The longest time left in a sample is below the lifetime, since a key is asked some seconds
 * after it was made. Where writes make new keys, the lifetime is the time in which as many are made as exist.
 * @param {WorkloadKey} key
 * @param {boolean} isNew
 */
const setLifetime = (key, isNew) => {
  if (!isNew || key.createdPerS === 0) return
  const replacedInS = key.keys / key.createdPerS
  const lifetime = Math.max(1, Math.round(replacedInS), Math.ceil(Number(key.from.left_s.most)))
  key.isLifetimeDerived = true
  key.lifetime = lifetime
  key.left = Array.from({ length: 20 }, (_, i) => Math.max(1, Math.round(((i + 0.5) * lifetime) / 20)))
}

/** How many keys of each pattern are created and removed in a second. @param {Profile} profile @param {WorkloadKey[]} keys */
const setTurnover = (profile, keys) => {
  const expiring = keys.filter(({ lifetime }) => lifetime !== null)
  const due = expiring.map((key) => key.keys / Number(key.lifetime))
  const made = Math.max(0, profile.expired_per_s + profile.evicted_per_s + profile.expiring_keys_per_s)
  const written = sum(
    profile.commands
      .filter(
        ({ name }) => creators.has(name) && expiring.some(({ type }) => (typeFor(name) ?? type) === type),
      )
      .map(({ per_s: perS }) => perS),
  )
  for (const [i, key] of expiring.entries()) {
    key.createdPerS += (made * due[i]) / sum(due)
    key.keys = Math.max(1, Math.round(key.keys * (1 - profile.stale_share)))
    setLifetime(key, made > mostlyNew * written)
  }
  const removed = sum(profile.commands.filter(({ name }) => removers.has(name)).map(({ per_s }) => per_s))
  const removable = keys.filter((key) => key.keys > 1)
  const weights = weightsOf(removable)
  const grown = profile.keys_per_s - profile.expiring_keys_per_s
  const staying = keys.filter(({ lifetime, keys: count }) => lifetime === null && count > 1)
  for (const key of staying)
    key.createdPerS += (Math.max(0, grown) * key.keys) / sum(staying.map((one) => one.keys))
  for (const [i, key] of removable.entries()) {
    key.removedPerS = removed * weights[i]
    key.createdPerS += key.removedPerS
  }
}

/** @param {Profile} profile @param {readonly WorkloadKey[]} keys */
const commandsOf = (profile, keys) => {
  /** @type {LeftOut[]} */
  const leftOut = []
  /** @type {{ name: string, key: WorkloadKey, perS: number }[]} */
  const uses = []
  for (const { name, per_s: perS, share, is_data: isData } of profile.commands) {
    if (!isData) continue
    const form = commandForms[name]
    const type = typeFor(form?.as ?? name)
    const about = keys.filter((key) => type === null || key.type === type)
    if (!form || about.length === 0) {
      leftOut.push({
        name,
        share,
        why: form ? 'no key of its type was seen' : 'its arguments are not known',
      })
      continue
    }
    const weights = weightsOf(about)
    for (const [i, key] of about.entries())
      if (weights[i] > 0) uses.push({ name, key, perS: perS * weights[i] })
  }
  const creating = (/** @type {WorkloadKey} */ key) =>
    sum(uses.filter((use) => use.key === key && creators.has(use.name)).map(({ perS }) => perS))
  const reads = uses.filter(({ name }) => commandForms[name].isRead)
  const may = reads.filter(({ key }) => key.lifetime !== null || key.removedPerS > 0)
  const missing = may.length > 0 ? may : reads
  const missShare = Math.min(
    1,
    (profile.miss_ratio * sum(reads.map(({ perS }) => perS))) / sum(missing.map(({ perS }) => perS)) || 0,
  )

  const commands = uses.flatMap(({ name, key, perS }) => {
    const form = commandForms[name]
    const make = (/** @type {string} */ placeholder, /** @type {number} */ part) =>
      part * perS < profile.commands_per_s / 1e6 || part <= 0
        ? []
        : [{ form, key, name, placeholder, perS: part * perS }]
    if (key.keys === 1 && !key.name.includes('{id}')) return make('', 1)
    const isNew = Math.min(1, key.createdPerS / Math.max(1e-9, creating(key)))
    if (creators.has(name)) return [...make('{new}', isNew), ...make('{live}', 1 - isNew)]
    if (removers.has(name)) return make(key.createdPerS > 0 ? '{last}' : '{missing}', 1)
    if (/^p?expire/.test(name) && key.type !== 'string') {
      const first = Math.min(1, Math.min(key.createdPerS, creating(key)) / perS)
      return [...make('{turn}', first), ...make('{live}', 1 - first)]
    }
    const isMissing = missing.some((use) => use.key === key && use.name === name) ? missShare : 0
    return [...make('{missing}', isMissing), ...make('{live}', 1 - isMissing)]
  })
  return { commands, leftOut }
}

/** Bytes of replies in a second. @param {ReturnType<typeof commandsOf>['commands']} commands */
const repliesBytes = (commands) =>
  sum(commands.map(({ form, key, placeholder, perS }) => perS * form.reply(key, placeholder === '{missing}')))

// Sizes that explain the bytes to within this part are kept.
const alike = 0.02
const steepest = 6

/**
 * Fits how often sizes of strings are used, so that replies have the bytes that the server sent: larger ones more rarely,
 * or more often.
 * @param {Profile} profile
 * @param {ReturnType<typeof commandsOf>['commands']} commands
 */
const fitUse = ({ bytes_out_per_s: sent }, commands) => {
  if (commands.some(({ form }) => form.element)) return
  const reads = commands.filter(
    ({ form, key, placeholder }) =>
      form.isRead &&
      placeholder === '{live}' &&
      key.type === 'string' &&
      !key.isNumber &&
      key.bytes.length > 1,
  )
  const keys = [...new Set(reads.map(({ key }) => key))]
  const replies = () => repliesBytes(commands)
  if (keys.length === 0 || Math.abs(replies() / sent - 1) < alike) return
  const tilt = (/** @type {number} */ slope) => {
    for (const key of keys) {
      const middle = mean(key.bytes)
      key.use = key.bytes.map((size) => +Math.exp((slope * (size - middle)) / middle).toPrecision(3))
    }
    return replies()
  }
  let [low, high] = [-steepest, steepest]
  for (let step = 0; step < 40; step++) {
    const slope = (low + high) / 2
    if (tilt(slope) < sent) low = slope
    else high = slope
  }
}

// How many standard errors the mean of a sample may be off.
const mostOff = 3

/**
 * Fits the number of elements of keys that are read whole to the bytes that the server sent, within the error of the
 * sample.
 * @param {Profile} profile
 * @param {ReturnType<typeof commandsOf>['commands']} commands
 */
const fitElements = ({ bytes_out_per_s: sent }, commands) => {
  if (commands.some(({ form }) => form.element) || sent === 0) return
  const keys = new Set(
    commands
      .filter(({ form, key }) => form.isRead && key.type !== 'string' && key.keys > 1)
      .map(({ key }) => key),
  )
  const seen = [...keys].map((key) => ({
    key,
    elements: key.elements,
    off: (mostOff / z) * halfOf(key.from.size),
  }))
  const replies = (/** @type {number} */ part) => {
    for (const { key, elements, off } of seen) key.elements = whole(elements.map((n) => n * (1 + part * off)))
    return repliesBytes(commands)
  }
  let [low, high] = [-1, 1]
  for (let step = 0; step < 20; step++) {
    const shift = (low + high) / 2
    if (replies(shift) < sent) low = shift
    else high = shift
  }
  // Patterns without reads of whole keys change nothing.
  if (replies(1) === replies(-1)) replies(0)
  else replies(low)
}

/**
 * Fits how many elements a range has to the bytes that no other command explains, and returns it with the file's share of
 * the bytes that the server sends.
 * @param {Profile} profile
 * @param {ReturnType<typeof commandsOf>['commands']} commands
 */
const repliesOf = (profile, commands) => {
  const known = repliesBytes(commands)
  const each = sum(
    commands.map(({ form, key, perS, placeholder }) =>
      form.element && placeholder !== '{missing}' ? perS * form.element(key) : 0,
    ),
  )
  const longest = Math.max(
    1,
    ...commands.filter(({ form }) => form.element).map(({ key }) => Math.max(...key.elements)),
  )
  const sent = profile.bytes_out_per_s
  const range = each === 0 ? 1 : Math.max(1, Math.min(longest, Math.round((sent - known) / each)))
  const perS = known + each * range
  return { range, bytes: sent > 0 ? perS / sent : 1, perS }
}

/** Bytes of a command as it is sent, on average. @param {string} command @param {WorkloadKey} key */
const requestBytes = (command, key) => {
  const digits = String(Math.ceil(key.keys / 2)).length
  const lengths = command
    .replace(/\{random (\d+) (\d+)\}/g, (_, __, to) => '9'.repeat(to.length))
    .replace(/\{missing\}/g, '9'.repeat(13))
    .replace(/\{(new|live|last|turn)\}/g, '9'.repeat(digits))
    .replace(/\{lifetime\}/g, String(key.lifetime ?? 0))
    .replace(/\{element[ \d]*\}/g, '9'.repeat(String(Math.ceil(mean(key.elements) / 2)).length))
    .split(' ')
    .map((word) => (word === '{bytes}' ? mean(key.bytes) : word.length))
  const framed = (/** @type {number} */ n) => 5 + String(Math.round(n)).length + n
  return 3 + String(lengths.length).length + sum(lengths.map(framed))
}

// Bytes besides commands about keys, such as PING.
const otherBytes = 14
const mostRounded = 24

/**
 * Fits the length of members' names to the bytes that the server received. By memory alone names of 13 bytes came out as
 * 18, since the overhead of a member differs between allocators.
 * @param {Profile} profile
 * @param {ReturnType<typeof commandsOf>['commands']} commands
 */
const fitNames = (profile, commands) => {
  const text = (/** @type {typeof commands[number]} */ { form, key, placeholder }) =>
    form.write(key, key.name.replace('{id}', placeholder), 1)
  const named = commands.filter((one) => /^ex*{/.test(one.key.element) && text(one).includes(one.key.element))
  const perS = sum(named.map((one) => one.perS))
  if (perS === 0 || profile.bytes_in_per_s === 0) return
  const others = sum(profile.commands.filter((one) => !one.is_data).map((one) => one.per_s)) * otherBytes
  const known = sum(commands.map((one) => one.perS * requestBytes(text(one), one.key)))
  const exact = Math.round((profile.bytes_in_per_s - others - known) / perS)
  const longer = Math.max(-mostRounded, Math.min(mostRounded, exact))
  for (const key of new Set(named.map((one) => one.key)))
    key.element = key.element.replace(/^ex*/, (name) =>
      name.slice(0, 1).padEnd(Math.max(1, name.length + longer), 'x'),
    )
}

/**
 * The number of connections that send. Commands of several connections arrive together more often, and a server that
 * wakes for several at once takes less CPU for each.
 * @param {Pick<Profile, 'clients'>} profile
 */
export const connectionsOf = ({ clients: { busy, connections } }) =>
  Math.max(1, Math.min(1000, busy ?? connections))

/** @param {Profile} profile */
export const workloadOf = (profile) => {
  /** @type {WorkloadKey[]} */
  const keys = []
  /** @type {LeftOut[]} */
  const leftOut = []
  /** @type {Set<string>} */
  const taken = new Set()
  for (const pattern of profile.patterns) {
    const key = keyOf(pattern, taken)
    if (key) keys.push(key)
    else
      leftOut.push({
        name: pattern.pattern,
        share: pattern.keys.value / Math.max(1, profile.keys),
        why: 'keys that a file cannot make',
      })
    if (key) taken.add(key.name)
  }
  setTurnover(profile, keys)
  const { commands, leftOut: unknown } = commandsOf(profile, keys)
  fitUse(profile, commands)
  fitElements(profile, commands)
  if (unknown.length === 0) fitNames(profile, commands)
  const { range, bytes, perS: bytesOutPerS } = repliesOf(profile, commands)
  const written = commands.map(({ form, key, placeholder, perS }) => ({
    command: form.write(key, key.name.replace('{id}', placeholder), range),
    per_s: perS,
    of: key.name,
  }))
  const bytesInPerS = sum(
    written.map(({ command, per_s: perS }, i) => perS * requestBytes(command, commands[i].key)),
  )
  const connections = connectionsOf(profile)
  const several = keys.filter((key) => keys.filter((other) => other.type === key.type).length > 1)
  return {
    keys,
    commands: written,
    left_out: [...unknown, ...leftOut],
    rate: Math.max(1, Math.round(sum(written.map(({ per_s: perS }) => perS)))),
    reply_bytes: bytes,
    expected: expectedOf(profile, { keys, bytesInPerS, bytesOutPerS, connections }),
    connections,
    assumptions: [
      keys.some(({ use }) => use)
        ? 'How often keys of each size are used is fitted to the bytes that the server sent; keys of one size are used equally often.'
        : 'All keys of a pattern are used equally often.',
      ...(Math.abs(bytes - 1) > 0.05
        ? [
            `Replies of this file have about ${Math.round(bytes * 100)} % of the bytes that the server sends: keys that are used often may have other sizes than most.`,
          ]
        : []),
      ...(several.length > 0
        ? [
            several.some(({ from }) => from.uses_per_s === null)
              ? 'Commands are shared among patterns of one type by their numbers of keys: the server does not say when keys were used.'
              : 'Commands are shared among patterns of one type by how long their keys were not used.',
          ]
        : []),
      ...(commands.some(({ form }) => form.element)
        ? [`Commands that read ranges bring ${range} elements, which fits the bytes that the server sent.`]
        : []),
      ...(commands.some(({ placeholder }) => placeholder === '{missing}')
        ? ['Reads of missing keys are spread over all commands that read keys which expire or are deleted.']
        : []),
      ...(keys.some(({ lifetime }) => lifetime !== null)
        ? [
            'A write sets the longest lifetime that was seen in its pattern, or the time in which as many keys are made as exist.',
          ]
        : []),
      'Commands with several keys or elements have one here.',
      ...(connections > 1
        ? [
            'Commands of several connections arrive together as often as in the replay: more at once take less CPU each.',
          ]
        : []),
      ...(commands.some(({ form }) => form.as) ? ['Commands that do not block replace blocking ones.'] : []),
    ],
  }
}

/** @typedef {ReturnType<typeof workloadOf>} Workload */

const quoted = (/** @type {string} */ text) => JSON.stringify(text)
const listed = (/** @type {number[]} */ numbers) =>
  new Set(numbers).size === 1 ? String(numbers[0]) : `[${numbers.join(', ')}]`

/** @param {WorkloadKey} key */
const keyLine = (key) => {
  const { type, bytes, use, lifetime } = key
  const fields = [
    `type: ${type}`,
    `keys: ${key.keys}`,
    ...(type === 'string' ? [] : [`elements: ${listed(key.elements)}`, `element: ${quoted(key.element)}`]),
    ...(key.isNumber
      ? ['value: number']
      : type === 'set' || type === 'zset'
        ? []
        : [`bytes: ${use ? `[${bytes.join(', ')}]` : listed(bytes)}`]),
    ...(use ? [`use: [${use.join(', ')}]`] : []),
    ...(lifetime === null ? [] : [`lifetime: ${lifetime}`, `left: ${listed(key.left)}`]),
  ]
  return `  ${quoted(key.name)}: { ${fields.join(', ')} }`
}

/** The text of the file. @param {Profile} profile @param {Workload} workload */
export const workloadText = (
  profile,
  { keys, commands, left_out: leftOut, rate, connections, assumptions },
) =>
  `${[
    `# Made by millrace profile of ${profile.started} (${profile.duration_s.toFixed(0)} s). Assumed, since no counter reports it; change what you know better:`,
    ...assumptions.map((line) => `#   ${line}`),
    ...leftOut
      .slice(0, 50)
      .map(({ name, why, share }) => `# Left out: ${quoted(name)} (${(share * 100).toFixed(1)} %): ${why}.`),
    'title: what millrace profile saw',
    `run: { rate: ${rate}, connections: ${connections} }`,
    'keys:',
    ...keys.map(keyLine),
    'mix:',
    ...commands.map(
      ({ command, per_s: perS }) =>
        `  - { command: ${quoted(command)}, share: ${+((perS / rate) * 100).toFixed(4) || 0.0001} }`,
    ),
  ].join('\n')}\n`
