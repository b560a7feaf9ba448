// A plan's strategy: its declaration with the plan's planFields, as the drivers, the measures and the reports ask for it.
import { keysOf } from '../base/typed.js'
import { commandBytes } from '../wire/encode.js'
import { isRead } from '../wire/read-commands.js'
import { isFamily, isMany, keyIn, listedKeys, shaOrInline, textOf } from './bind/arguments.js'
import { bundleCommandsOf } from './bind/bundle.js'
import { clientCommandOf, keyBytesOf, leadingCommand } from './bind/client.js'
import { multiStepsOf } from './bind/multi-step.js'
import { commandsAt, oldestIn, readerOf } from './bind/reader.js'
import { boundWork } from './bind/worker.js'
import { boundStepsOf, checksOf } from './bind/writer.js'
import {
  commandNames,
  countingCommands,
  familiesOf,
  forecastOf,
  holdersOf,
  itemNumberOf,
  keyFaults,
  removesItemKeys,
  runsUnknown,
  scriptsIn,
  slotsOf,
  typesOf,
} from './derive.js'
import { planFieldsOf } from './fields.js'
import { allStrategies, strategyNamed } from './index.js'
import { planModel } from './own/model.js'
import { meaningsOf } from './reply-meanings.js'

/**
 * @import { BundleCommands } from './bind/bundle.js'
 * @import { Command, Declaration, Family, Fields, Repeat, Slot, Work, Workers, Keys } from './declare.js'
 * @import { LatestPlan } from './latest/fields.js'
 * @import { Reply } from '../wire/values.js'
 * @import { Outgoing } from './bind/multi-step.js'
 *
 * @typedef {LatestPlan & { strategy: string, variant?: string | null }} AnyPlan a plan, an announcement of
 *   one, or a reader's plan
 */

/** How many arguments a gathered command has for no item, and for each, and whether items have several keys. @param {Command} command */
const argumentsOf = ({ args }) => {
  const manies = args.filter(isMany)
  const anItem = manies.reduce((sum, { many }) => sum + many.length, 0)
  const family = keyIn(args, '').family
  return {
    fixed: 1 + args.length - manies.length,
    anItem,
    isSpread: family?.parts.some((part) => typeof part === 'object' && part.forItem !== undefined) === true,
  }
}

/** @param {Declaration} declared @param {Fields} planFields @param {string} operation */
const commandsOf = (declared, planFields, operation) =>
  declared.operations(planFields, declared.keys(planFields))[operation] ?? []

/** Most items of one command of the operation; 0 = no limit. @param {readonly Command[]} commands */
const mostMembers = (commands) => {
  const limits = commands.filter(({ kind }) => kind === 'gather').map(({ max = 0 }) => max)
  return limits.length === 0 ? null : Math.min(...limits)
}

/** Keys from which the operation removes expired ids. @param {readonly Command[]} commands @param {string} prefix */
const purgedKeys = (commands, prefix) =>
  commands
    .filter(({ purges }) => purges)
    .flatMap(({ args, name }) => {
      const { family } = keyIn(args, name)
      return family ? listedKeys([family], prefix) : []
    })

// Operations of several commands about one key, or keys of one slot: one after the other, with pauses between them, or some together
// as a transaction. Each goes when the one before it was answered.

/**
 * @typedef {ReturnType<ReturnType<typeof sequenceOf>['multiStep']['begin']>} Sequence one under way
 */

const multi = commandBytes([['MULTI']])
const exec = commandBytes([['EXEC']])

/** Commands that go together. @param {readonly Command[]} commands @param {string} prefix */
const groupOf = (commands, prefix) => {
  const bound = commands.map((command) => clientCommandOf(command, prefix))
  const { isTransaction = false, pauseMs = 0 } = commands[0].sequence ?? {}
  const most = bound.reduce((sum, one) => sum + one.most, multi.length + exec.length)
  return {
    pauseMs,
    isTransaction,
    replies: bound.length + (isTransaction ? 2 : 0),
    /** @param {number} n */
    bytes(n) {
      const out = Buffer.allocUnsafe(most)
      let at = isTransaction ? multi.copy(out) : 0
      for (const one of bound) at = one.put(n, out, at)
      if (isTransaction) at += exec.copy(out, at)
      return out.subarray(0, at)
    },
  }
}

/** The words of commands, for those who read them. @param {Buffer} bytes @returns {Outgoing[]} */
const wordsIn = (bytes) =>
  bytes
    .toString('latin1')
    .split(/(?:^|(?<=\r\n))\*\d+\r\n/)
    .filter(Boolean)
    .map((text) => ({ args: text.split('\r\n').filter((_, i) => i % 2 === 1), heeded: true }))

/**
 * @param {readonly Command[]} commands with their groups, in order
 * @param {Repeat} repeat
 * @param {string} prefix
 */
const sequenceOf = (commands, repeat, prefix) => {
  const numbers = [...new Set(commands.map(({ sequence }) => sequence?.group))]
  const groups = numbers.map((number) =>
    groupOf(
      commands.filter(({ sequence }) => sequence?.group === number),
      prefix,
    ),
  )
  const [first] = commands
  const { slotOf } = clientCommandOf(first, prefix)

  /** @param {number} n @param {number} [client] */
  const begin = (n, client = 0) => {
    let at = 0
    /** @type {string | null} */
    let fault = null
    return {
      n,
      client,
      continues: true,
      /** Milliseconds to wait before the next commands. */
      pauseMs: () => (at < groups.length ? groups[at].pauseMs : 0),
      next: () => (at < groups.length ? wordsIn(groups[at].bytes(n)) : null),
      /** What goes now; null: it is over. */
      send: () => (at < groups.length ? { bytes: groups[at].bytes(n), replies: groups[at].replies } : null),
      /** @param {Reply} value the reply to the last of them */
      take(value) {
        const error =
          groups[at].isTransaction && Array.isArray(value) ? value.find((one) => one instanceof Error) : null
        if (error instanceof Error) fault = error.message
        at++
      },
      /** A command of a transaction was executed with an error. */
      fault: () => fault,
      answer: () => /** @type {Reply[]} */ ([]),
      conflicts: () => 0,
    }
  }
  return {
    command: leadingCommand(first.name, slotOf),
    repeatable: commands.every((command) => (command.repeat ?? repeat) !== 'never'),
    reads: commands.every(({ name }) => isRead(name.toLowerCase())),
    compared: null,
    multiStep: { begin, hasKey: true },
    isSequence: true,
    fatal: undefined,
  }
}

/** @param {Command} command @param {Repeat} repeat @param {string} prefix */
const clientOperation = (command, repeat, prefix) => ({
  command:
    command.kind === 'each' ? clientCommandOf(command, prefix) : oneOf(bundleCommandsOf(command, prefix)),
  repeatable: (command.repeat ?? repeat) !== 'never',
  reads: isRead(command.name.toLowerCase()),
  ...(command.compared !== undefined && { compared: command.compared }),
})

/**
 * An operation as clients play it: of one command, or a multi-step operation.
 * @param {Declaration} declared
 * @param {Fields} planFields
 * @param {string} name of the operation
 * @param {string} prefix
 */
const operationOf = (declared, planFields, name, prefix) => {
  const commands = commandsOf(declared, planFields, name)
  const [first] = commands
  if (first.sequence) return sequenceOf(commands, declared.repeat, prefix)
  if (first.kind !== 'ask') return clientOperation(first, declared.repeat, prefix)
  const meanings = meaningsOf(declared.answers?.(planFields).question ?? null)
  return {
    command: leadingCommand(first.name, () => 0),
    repeatable: commands.every(({ repeat = declared.repeat }) => repeat !== 'never'),
    reads: commands.every(({ name: one }) => isRead(one.toLowerCase())),
    multiStep: multiStepsOf(commands, prefix, meanings),
    fatal: declared.play.fatal,
  }
}

/** A bundle of a single number. @param {BundleCommands} bundle */
const oneOf = ({ name, size, put }) => ({
  name,
  timed: false,
  most: 1024 + size([1], 1),
  put: (/** @type {number} */ n, /** @type {Buffer} */ out, /** @type {number} */ at) => put([n], 1, out, at),
  slotOf: () => 0,
})

/**
 * Two operations of a mix must not mean different things by the same class of reply.
 * @param {readonly Command[]} commands
 * @param {string} where
 */
const replyNamesOf = (commands, where) => {
  /** @type {Partial<Record<'bulk' | 'nil' | 'zero' | 'one', string>>} */
  const names = {}
  for (const { counts = {}, name } of commands) {
    for (const reply of keysOf(counts)) {
      const meaning = counts[reply]
      if ((names[reply] ?? meaning) !== meaning)
        throw new TypeError(
          `${where}: ${name} counts a ${reply} as ${meaning}, another command as ${names[reply]}`,
        )
      names[reply] = meaning
    }
  }
  return names
}

/**
 * The operations that are played: of a mix those that have a weight.
 * @param {Declaration} declared
 * @param {AnyPlan & { clients?: { ratio: readonly number[] } | null }} plan
 */
const playedIn = ({ play: { operations }, passes, mix }, { clients }) =>
  clients && !passes && !mix && operations.length > 1
    ? operations.filter((_, i) => (clients.ratio[i] ?? 0) > 0)
    : operations

/**
 * The commands of each operation that is played in the place of another. Of a cache: reads, and what removes a key where it has writes.
 * @param {Declaration} declared
 * @param {Fields} planFields
 * @param {{ clients?: { ratio: readonly number[] } | null }} plan
 * @param {readonly (readonly Command[])[]} played
 */
const alternativesOf = (declared, planFields, { clients }, played) => {
  if (!clients || declared.passes) return [played.flat()]
  if (!declared.play.caches) return played
  return clients.ratio[0] > 0 ? [...played, commandsOf(declared, planFields, 'drop')] : played
}

/** Whether an operation of clients is a command for each slot of its keys. @param {{ cluster?: boolean, cache?: { batch: number } | null }} plan */
const isSplit = ({ cluster, cache }) => cluster && (cache?.batch ?? 1) > 1

/** The commands that are there, with those that their scripts run. @param {readonly (Work | null)[]} works */
const namesOf = (works) => [...commandNames(works.flatMap((one) => one ?? []))]

/** What workers send for jobs. @param {Workers | null} workers */
const workNames = (workers) => {
  if (workers === null) return []
  const { open, take, wait, own, confirm, reclaim } = workers
  return namesOf([...open, take, wait, own, ...confirm, reclaim])
}

// Other programs, and our own leases, run them too.
const commonNames = new Set(['get', 'mget', 'evalsha', 'multi', 'exec'])

/** @param {Readonly<Record<string, readonly unknown[]>>} options each with what it may be @returns {Record<string, any>[]} every choice of them */
const choicesOf = (options) =>
  Object.entries(options).reduce(
    (all, [name, values]) => all.flatMap((one) => values.map((value) => ({ ...one, [name]: value }))),
    [{}],
  )

/**
 * What consumers send, and by which of it they are known, whatever they and not the writers were asked for.
 * @param {Declaration} declared
 * @param {Fields} planFields
 * @param {ReadonlySet<string>} written
 */
const consumerNames = (declared, planFields, written) => {
  const keys = declared.keys(planFields)
  const kinds = choicesOf({
    stage: [null, 'filter', 'output'],
    confirm: [false, true],
    takesMany: [false, true],
  })
  const workers = kinds.flatMap((kind) => declared.queue?.({ ...planFields, ...kind }, keys) ?? [])
  const looking = workers.flatMap(({ alive, leave, waiting, contents }) =>
    namesOf([alive, ...leave, ...waiting, ...contents.flatMap(({ read, each }) => [read, each])]),
  )
  const readKinds = choicesOf({ limit: [0, 1], scores: [false, true] })
  const reads = readKinds.flatMap((kind) => declared.read?.fetch({ ...planFields, ...kind }, keys) ?? [])
  const asked = reads.flatMap(({ asks }) => [...commandNames(asks)])
  const values = reads.flatMap(({ value }) => (value ? [value.name.toLowerCase()] : []))
  const sent = [...workers.flatMap(workNames), ...asked]
  // Every run asks for the time.
  const isSign = (/** @type {string} */ name) =>
    !written.has(name) && !commonNames.has(name) && name !== 'time'
  const signs = sent.filter(isSign)
  return {
    all: new Set([...commonNames, ...sent, ...values, ...looking]),
    // Any application reads values; who asks for ids first is a consumer.
    signs: new Set(signs.length > 0 ? signs : values.filter(isSign)),
  }
}

/** For a family with at most one variable, at its end. @param {Family} family @param {string} prefix */
const headIn = ({ parts: [head] }, prefix) => prefix + head

/** What clients send. @param {Declaration} declared @param {Fields} planFields @param {{ prefix: string, items?: number }} plan @param {readonly string[]} played */
const operationsOf = (declared, planFields, { prefix, items }, played) => {
  const operation = (/** @type {string} */ name) => operationOf(declared, planFields, name, prefix)
  return {
    /** Operations as clients send them. */
    clientOperations: () => played.map(operation),
    /** The commands of a bundle. @param {string} name */
    bundle: (name) => bundleCommandsOf(commandsOf(declared, planFields, name)[0], prefix),
    /** The operation that fills the key space; null: nothing is filled. */
    fill: () => (declared.fill?.play ? operation(declared.fill.play) : null),
    /** Operations that fill several patterns, each for so many numbers; null: one fills all. */
    fills: () =>
      declared.fill?.several?.map(({ play, count }) => ({
        operation: operation(play),
        count: count ?? Number(items),
      })) ?? null,
    /** An operation by its name, as clients send it. */
    operation,
    /** What is built besides the data that is loaded, as operations; null: nothing is. */
    indexing: () => {
      const indexing = declared.fill?.indexing?.(planFields)
      if (!indexing) return null
      const { create, ready, drop } = indexing
      return {
        ...indexing,
        create: create && { count: create.count, operation: operation(create.play) },
        ready: ready === null ? null : operation(ready),
        drop: drop === null ? null : operation(drop),
      }
    },
    /** What other clients play meanwhile; null: nothing. */
    beside: () => (declared.play.beside === null ? null : operation(declared.play.beside)),
    /** What is done before the first pass; null: nothing. */
    prepare: () => {
      const { prepare = null } = declared.passes ?? {}
      return (
        prepare && {
          operation: clientOperation(commandsOf(declared, planFields, prepare.play)[0], 'never', prefix),
          count: prepare.count(planFields),
        }
      )
    },
  }
}

/** What workers send for a queue's jobs. @param {Declaration} declared @param {Fields} planFields @param {string} prefix @param {readonly Command[]} stored */
const workOf = (declared, planFields, prefix, stored) => {
  const keys = declared.keys(planFields)
  const headOfKey = (/** @type {string} */ name) => headIn([keys[name]].flat()[0], prefix)
  const workers = () => declared.queue?.(planFields, keys) ?? null
  return {
    /** How a queue's jobs are taken; null: it is none. */
    workers,
    /** What commandstats may show of a queue: what its makers and workers send. */
    workCommands: new Set([...commandNames(stored), ...workNames(workers())]),
    /** @param {Work} work */
    boundWork: (work) => boundWork(work, prefix),
    /** The names of a queue's accounts, or what they begin with. */
    accounts: () => ({
      makers: headOfKey('makers'),
      boxes: headOfKey('boxes'),
      acked: headOfKey('acked'),
      done: headOfKey('done'),
    }),
  }
}

/** @param {AnyPlan & { items?: number, flow?: string, clients?: { ratio: readonly number[] } | null, cluster?: boolean,
 *   cache?: { batch: number } | null }} plan */
export const strategyOf = (plan) => {
  const declared = strategyNamed(plan.strategy)
  const planFields = planFieldsOf(plan)
  const binding = { prefix: plan.prefix, scriptText: shaOrInline }
  const [fault] = keyFaults([{ ...declared, families: familiesOf(declared.keys(planFields)) }])
  if (fault) throw new TypeError(fault)
  const play = playedIn(declared, plan)
  const played = play.map((operation) => commandsOf(declared, planFields, operation))
  const stored = played.flat()
  const alternatives = alternativesOf(declared, planFields, plan, played)
  const ids = declared.read?.ids(declared.keys(planFields)) ?? null
  const sent = Object.values(declared.operations(planFields, declared.keys(planFields))).flat()
  const runCommands = new Set([
    ...commandNames(sent),
    ...sent.map(({ name }) => name.toLowerCase()),
    ...(declared.play.delivery === 'transaction' || sent.some(({ sequence }) => sequence?.isTransaction)
      ? ['multi', 'exec']
      : []),
  ])
  const ownFamily = () => {
    const { key } = declared.keys(planFields)
    if (!('pattern' in key)) throw new TypeError(`${declared.name} has no keys of its own`)
    return key
  }
  const keyOf = (/** @type {number} */ n) => textOf(ownFamily(), n, plan.prefix)
  return {
    declared,
    planFields,
    /** The name that plans give a user's own model; else null. */
    model: planModel(declared, planFields),
    ...operationsOf(declared, planFields, plan, play),
    ...workOf(declared, planFields, plan.prefix, stored),
    /** The commands that store an interval's items. */
    steps: () => play.flatMap((operation) => boundStepsOf(declared, operation, planFields, binding)),
    amounts: () => declared.amounts?.(planFields) ?? null,
    /** Which operation is next, where a number says it. */
    picks: () => declared.mix?.picks(planFields) ?? null,
    /** What is known of right answers; null: answers are not checked. */
    answers: () => declared.answers?.(planFields) ?? null,
    /** Updates of what was loaded; null: they are not counted. */
    updates: () => declared.updates?.(planFields) ?? null,
    /** What is loaded is made by the strategy, and reported. */
    loads: declared.answers !== null || declared.updates !== null,
    /** The number in the name of a key, as a function; -1: it is none of ours. */
    numbers: () => {
      const numberIn = itemNumberOf(ownFamily(), plan.prefix)
      return (/** @type {string} */ key) => numberIn(Buffer.from(key), 0, Buffer.byteLength(key))
    },
    /** The key that the first operation about n is about, as bytes. */
    keyBytes: declared.play.delivery
      ? (/** @type {number} */ n) => Buffer.from(keyOf(n))
      : keyBytesOf(stored[0], plan.prefix),
    /** The key that an operation about n is about. */
    keyOf,
    /** What replies are counted as, by class. */
    replyNames:
      plan.flow === 'passes' ? {} : replyNamesOf(declared.passes ? played[0] : stored, declared.name),
    /** The same of one operation, which a pass plays alone. @param {string} operation */
    replyNamesOf: (operation) => replyNamesOf(commandsOf(declared, planFields, operation), declared.name),
    reader: () => readerOf(declared, planFields, binding),
    /** How acknowledged items are looked for; null: they cannot be. */
    checks: () => checksOf(declared, planFields, binding),
    /** What those do not look at, in words. */
    unchecked: () => declared.check?.unchecked(planFields) ?? [],
    /** Text of item n's id. @type {((n: number) => string) | null} */
    idOf:
      ids &&
      ((n) =>
        plan.prefix + ids.parts.map((one) => (typeof one === 'string' ? one : one.forItem?.(n))).join('')),
    itemNumberOf: ids ? itemNumberOf(ids, plan.prefix) : () => -1,
    scripts: scriptsIn(
      declared.answers || declared.play.caches
        ? Object.values(declared.operations(planFields, declared.keys(planFields))).flat()
        : stored,
    ),
    /** Whose calls are as many as operations, as the masters count them; none: no commands are. */
    countingCommands: isSplit(plan) ? [] : countingCommands(alternatives),
    /** The command that a server has run once for each operation of a multi-step operation; undefined: it runs some of them oftener. */
    onceCommand: stored.find(({ once }) => once)?.name.toLowerCase(),
    commandNames: commandNames(stored),
    /** What it may show of all that the run's writers send, scripts that go with each call too. */
    runCommands,
    /** A script of the user may run commands that are not declared. */
    runsUnknown: runsUnknown(sent),
    consumerCommands: consumerNames(declared, planFields, runCommands),
    mostMembers: mostMembers(stored),
    purgedKeys: purgedKeys(stored, plan.prefix),
    gathered: stored
      .filter(({ kind }) => kind === 'gather')
      .map((command) => ({ max: command.max ?? 0, ...argumentsOf(command) })),
    /** @param {{ masters: readonly string[], owners: Uint16Array | null }} topology @param {number} slotTable */
    forecast: (topology, slotTable) => forecastOf(declared, planFields, topology, slotTable),
    holders: () => holdersOf(declared, planFields, stored),
    removesItemKeys: removesItemKeys(alternatives.flat()),
    /** @param {number} items */
    slots: (items) => slotsOf(declared, planFields, items),
    /** @param {{ isItem: (n: number) => boolean, isMinute: (n: number) => boolean }} covers */
    types: (covers) => typesOf(declared, planFields, covers),
  }
}

/** Whether a key is that of the minute before. @param {Slot} slot */
const isEarlier = (slot) =>
  isFamily(slot) &&
  slot.parts.some((part) => typeof part === 'object' && part.variable === 'minute' && Number(part.shift) > 0)

/**
 * The structures that count unique items, of all strategies of the plan's workload, and which of them fill each.
 * @param {AnyPlan} plan
 */
export const structuresOf = (plan) => {
  const planFields = planFieldsOf(plan)
  const oldestMs = oldestIn(planFields)
  const binding = { prefix: plan.prefix, scriptText: shaOrInline }
  /** @type {Map<string, { structure: string, nature: string, strategies: string[], minuteBefore: boolean, commands: (nowMs: number) => string[][] }>} */
  const found = new Map()
  const { workload } = strategyNamed(plan.strategy)
  for (const declared of allStrategies().filter((one) => one.workload === workload)) {
    const counters = declared.read?.counters(planFields, declared.keys(planFields)) ?? []
    for (const { structure, nature, name, args } of counters) {
      const known = found.get(structure)
      if (known) known.strategies.push(declared.name)
      else
        found.set(structure, {
          structure,
          nature,
          strategies: [declared.name],
          minuteBefore: args.some(isEarlier),
          commands: (nowMs) =>
            commandsAt({ name, args }, { nowMs, oldestMs: oldestMs(nowMs) }, binding).map(
              (command) => command.args,
            ),
        })
    }
  }
  return [...found.values()]
}
