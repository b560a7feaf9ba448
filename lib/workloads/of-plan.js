// A plan's strategy: its declaration with the plan's terms, as the drivers, the measures and the reports ask for it.
import { checksOf, commandsAt, readerOf, stepsOf, textOf } from './bind.js'
import { chunkStencilOf } from './chunk-stencil.js'
import {
  argumentsOf,
  commandNames,
  commandsOf,
  countingCommand,
  forecastOf,
  holdersOf,
  itemNumberOf,
  mostMembers,
  purgedKeys,
  scriptsIn,
  slotsOf,
  typesOf,
} from './derive.js'
import { allStrategies, strategyNamed } from './index.js'
import { scriptSha } from './lua.js'
import { planModel } from './own/model.js'
import { keyBytesOf, stencilOf } from './stencil.js'
import { termsOf } from './terms.js'

/**
 * @typedef {import('./latest/terms.js').LatestPlan & { strategy: string, variant?: string | null }} AnyPlan a plan, a card of
 *   one, or a reader's plan
 */

/** @param {import('./declare.js').Command} command @param {import('./declare.js').Repeat} repeat @param {string} prefix */
const clientOperation = (command, repeat, prefix) => ({
  stencil: command.kind === 'each' ? stencilOf(command, prefix) : oneOf(chunkStencilOf(command, prefix)),
  repeatable: (command.repeat ?? repeat) !== 'never',
})

/** A chunk of a single number. @param {import('./chunk-stencil.js').ChunkStencil} chunk */
const oneOf = ({ name, size, put }) => ({
  name,
  most: 1024 + size([1], 1),
  put: (/** @type {number} */ n, /** @type {Buffer} */ out, /** @type {number} */ at) => put([n], 1, out, at),
  slotOf: () => 0,
})

/**
 * Two operations of a mix must not mean different things by the same class of reply.
 * @param {readonly import('./declare.js').Command[]} commands
 * @param {string} where
 */
const replyNamesOf = (commands, where) => {
  /** @type {Partial<Record<'bulk' | 'nil' | 'zero' | 'one', string>>} */
  const names = {}
  for (const { counts = {}, name } of commands) {
    for (const [reply, meaning] of /** @type {['bulk', string][]} */ (Object.entries(counts))) {
      if ((names[reply] ?? meaning) !== meaning)
        throw new TypeError(
          `${where}: ${name} counts a ${reply} as ${meaning}, another command as ${names[reply]}`,
        )
      names[reply] = meaning
    }
  }
  return names
}

/** @param {AnyPlan} plan */
export const strategyOf = (plan) => {
  const declared = strategyNamed(plan.strategy)
  const terms = termsOf(plan)
  const binding = { prefix: plan.prefix, shaOf: scriptSha }
  const { flow, play } = declared.roles.writer
  const played = play.map((operation) => commandsOf(declared, terms, operation))
  const stored = played.flat()
  const ids = declared.ids(declared.keys(terms))
  const keyOf = (/** @type {number} */ n) =>
    textOf(/** @type {import('./declare.js').Family} */ (declared.keys(terms).key), n, plan.prefix)
  return {
    declared,
    terms,
    /** Of a user's own, as plans name it; else null. */
    model: planModel(declared, terms),
    /** The commands that store an interval's items. */
    steps: () => play.flatMap((operation) => stepsOf(declared, operation, terms, binding)),
    flow,
    /** Operations of one command each, as clients send them. */
    stencils: () => played.map(([command]) => clientOperation(command, declared.repeat, plan.prefix)),
    /** The commands of a chunk. @param {string} operation */
    chunk: (operation) => chunkStencilOf(commandsOf(declared, terms, operation)[0], plan.prefix),
    amounts: () => declared.amounts?.(terms) ?? null,
    /** The operation that fills the key space; null: nothing is filled. */
    fill: () =>
      declared.fill === null
        ? null
        : clientOperation(commandsOf(declared, terms, declared.fill)[0], declared.repeat, plan.prefix),
    /** What is done before the first pass; null: nothing. */
    prepare: () =>
      declared.prepare && {
        operation: clientOperation(
          commandsOf(declared, terms, declared.prepare.play)[0],
          'never',
          plan.prefix,
        ),
        count: declared.prepare.count(terms),
      },
    /** The key that the first operation about n is about, as bytes. */
    keyBytes: declared.delivery
      ? (/** @type {number} */ n) => Buffer.from(keyOf(n))
      : keyBytesOf(stored[0], plan.prefix),
    /** Commands in which an item is counted as carried. */
    commandsAnItem: flow === 'clients' ? 1 : stored.filter(({ kind }) => kind !== 'every').length,
    /** The key that an operation about n is about. */
    keyOf,
    /** What replies are counted as, by class. */
    replyNames: declared.passes ? {} : replyNamesOf(stored, declared.name),
    /** The same of one operation, which a pass plays alone. @param {string} operation */
    replyNamesOf: (operation) => replyNamesOf(commandsOf(declared, terms, operation), declared.name),
    reader: () => readerOf(declared, terms, binding),
    /** How acknowledged items are looked for; null: they cannot be. */
    checks: () => checksOf(declared, terms, binding),
    /** Text of item n's id. @type {((n: number) => string) | null} */
    idOf:
      ids &&
      ((n) =>
        plan.prefix + ids.parts.map((part) => (typeof part === 'string' ? part : part.of?.(n))).join('')),
    itemNumberOf: ids ? itemNumberOf(ids, plan.prefix) : () => -1,
    scripts: scriptsIn(stored),
    countingCommand: countingCommand(stored),
    commandNames: commandNames(stored),
    mostMembers: mostMembers(stored),
    purgedKeys: purgedKeys(stored, plan.prefix),
    gathered: stored
      .filter(({ kind }) => kind === 'gather')
      .map((command) => ({ max: command.max ?? 0, ...argumentsOf(command) })),
    /** @param {{ masters: readonly string[], owners: Uint16Array | null }} topology @param {number} slotTable */
    forecast: (topology, slotTable) => forecastOf(declared, terms, topology, slotTable),
    holders: () => holdersOf(declared, terms),
    /** @param {number} items */
    slots: (items) => slotsOf(declared, terms, items),
    /** @param {{ isItem: (n: number) => boolean, isMinute: (n: number) => boolean }} covers */
    types: (covers) => typesOf(declared, terms, covers),
  }
}

/** Whether a key is that of the minute before. @param {unknown} argument */
const isEarlier = (argument) =>
  /** @type {{ parts?: any[] }} */ (argument).parts?.some(
    (part) => part.variable === 'minute' && part.shift > 0,
  )

/**
 * The structures that count unique items, of all strategies of the plan's workload, and which of them fill each.
 * @param {AnyPlan} plan
 */
export const structuresOf = (plan) => {
  const terms = termsOf(plan)
  const binding = { prefix: plan.prefix, shaOf: scriptSha }
  /** @type {Map<string, { structure: string, nature: string, strategies: string[], minuteBefore: boolean, commands: (nowMs: number) => string[][] }>} */
  const found = new Map()
  const { workload } = strategyNamed(plan.strategy)
  for (const declared of allStrategies().filter((one) => one.workload === workload)) {
    for (const { structure, nature, name, args } of declared.counters(terms, declared.keys(terms))) {
      const known = found.get(structure)
      if (known) known.strategies.push(declared.name)
      else
        found.set(structure, {
          structure,
          nature,
          strategies: [declared.name],
          minuteBefore: args.some(isEarlier),
          commands: (nowMs) =>
            commandsAt({ name, args }, { nowMs, oldestMs: terms.oldestMs(nowMs) }, binding).map(
              (command) => command.args,
            ),
        })
    }
  }
  return [...found.values()]
}
