// What every user's model has, however it is written: the workload, its role, and a digest that names it in plans.
import { createHash } from 'node:crypto'
import { anyPlan } from '../any-plan.js'
import { strategy } from '../declare.js'
import { familiesOf } from '../derive.js'
import { play } from '../latest/parts.js'
import { planFieldsOf } from './fields.js'
import { announcedKey } from './patterns.js'

/**
 * @import { Command, Declaration, Fields, Keys, Rule, Wording } from '../declare.js'
 * @import { NeedName } from '../needs.js'
 * @import { AnnouncedKey } from './patterns.js'
 * @import { OwnFields } from './fields.js'
 *
 * @typedef {Partial<Wording<OwnFields, any>> & Pick<Wording<OwnFields, any>, 'name' | 'title' | 'keys' | 'operations'>} ModelFields
 *
 * @typedef {Record<string, string>} Source the option that names it, and its text
 *
 * @typedef {object} PlanModel a user's model as its plan names it, for programs that have not its file
 * @property {string} title of the plan alone, not of its announcement in the target, as the source
 * @property {Source} source
 * @property {string} digest
 * @property {readonly AnnouncedKey[]} keys
 * @property {readonly string[]} [replies] of the plan alone: names of what is counted of replies
 * @property {number | null} lifetimeS of its keys, the longest; null: some stay until cleanup
 */

/** PlanFields with which a declaration can be looked at before there is a plan. */
export const sampleFields = () => planFieldsOf({ ...anyPlan, sets: [''], extraSets: [] })

/** Equal for equal keys, commands and reads, in whatever file. @param {ModelFields} fields */
const digestOf = ({ keys, operations, read }) => {
  const t = sampleFields()
  const k = keys(t)
  const parts = [k, operations(t, k), read?.fetch(t, k) ?? null]
  // What is counted of replies changes nothing in the target.
  const text = JSON.stringify(parts, (name, value) =>
    name === 'counts' || name === 'number' ? undefined : typeof value === 'function' ? String(value) : value,
  )
  return createHash('sha1').update(text).digest('hex').slice(0, 10)
}

/** The longest lifetime of the keys; null: one has none. @param {Keys} keys */
const longestS = (keys) => {
  const all = familiesOf(keys).map(({ lifetimeS }) => lifetimeS)
  return all.includes(null) ? null : Math.max(0, ...all.map(Number))
}

/** A script that cannot be read is the user's word. @param {string | null} unread a sentence @returns {Rule} */
export const scriptsRule = (unread) => (s) =>
  unread !== null &&
  s.allow !== undefined &&
  !s.allow.includes('scripts') &&
  `${unread}; --allow scripts sends it all the same`

/** @param {ModelFields & { meets?: readonly NeedName[] }} fields */
export const modelDeclaration = ({ meets, ...fields }) =>
  strategy({
    play,
    repeat: 'never',
    ...(meets && { choice: { label: fields.name, meets, expiry: 'its own rules', use: fields.title } }),
    ...fields,
    /** @type {'own'} */
    workload: 'own',
    keepsKeys: longestS(fields.keys(sampleFields())) === null,
    model: { digest: digestOf(fields), source: {} },
  })

/** Names of what is counted of replies. @param {readonly Command[]} commands */
const namesCounted = (commands) => [
  ...new Set(
    commands.flatMap(({ counts = {}, number }) => [...Object.values(counts), ...(number ? [number] : [])]),
  ),
]

/** @param {Declaration} declared @param {Fields} planFields @returns {PlanModel | null} null: a built-in strategy */
export const planModel = ({ model, title, keys, operations }, planFields) =>
  model && {
    title,
    ...model,
    replies: namesCounted(Object.values(operations(planFields, keys(planFields))).flat()),
    keys: familiesOf(keys(planFields)).flatMap((family) => announcedKey(family) ?? []),
    lifetimeS: longestS(keys(planFields)),
  }
