// A plan's strategy: its declaration with the plan's terms, as the drivers, the measures and the reports ask for it.
import { checksOf, commandsAt, readerOf, stepsOf } from './bind.js'
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
import { termsOf } from './latest/terms.js'
import { scriptSha } from './lua.js'

/**
 * @typedef {import('./latest/terms.js').LatestPlan & { strategy: string, variant?: string | null }} AnyPlan a plan, a card of
 *   one, or a reader's plan
 */

/** @param {AnyPlan} plan */
export const strategyOf = (plan) => {
  const declared = strategyNamed(plan.strategy)
  const terms = termsOf(plan)
  const binding = { prefix: plan.prefix, shaOf: scriptSha }
  const stored = commandsOf(declared, terms, 'store')
  const ids = declared.ids(declared.keys(terms))
  return {
    declared,
    terms,
    /** The commands that store an interval's items. */
    steps: () => stepsOf(declared, 'store', terms, binding),
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
