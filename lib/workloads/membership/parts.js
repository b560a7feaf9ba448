// What the strategies of 'membership' share: a pass over ids that are all new, and one over the same ids again.
import { exactly } from '../../base/typed.js'
import { count } from '../../base/units.js'
import { atRate, family } from '../declare.js'
import { partition } from './ids.js'

/**
 * @import { Declaration, PassResult, Rule } from '../declare.js'
 * @import { planFieldsOf } from './fields.js'
 */
/** @typedef {ReturnType<typeof planFieldsOf>} PlanFields */

const two = (/** @type {number} */ n) => String(n).padStart(2, '0')

/** 1: the id was added; 0: it was there. */
export const added = Object.freeze({ counts: Object.freeze({ one: 'new', zero: 'known' }) })

/** @param {string} name @param {number} bits */
export const structureName = (name, bits) => `bench:${name}:${two(bits)}:{partition}`

/**
 * 2^n structures as published, such as bench:hash:12:4095.
 * @param {PlanFields} t
 * @param {{ name: string, type: string, bytes: number, bytesAnId: number }} structure name: of four letters, in the key
 */
export const structures = ({ bits, partitions, quantity, ids }, { name, type, bytes, bytesAnId }) =>
  family(structureName(name, bits), type, {
    of: { partition: partition(ids, bits) },
    keys: Math.min(partitions, quantity),
    bytes: bytes + (bytesAnId * quantity) / Math.min(partitions, quantity),
    shape: { head: `bench:${name}:`, rest: /^\d\d:\d+$/ },
  })

/** @param {readonly PassResult[]} passes */
const unexpected = (passes) =>
  passes.flatMap(({ name, counts, operations }) => {
    const expected = name === 'misses' ? 'new' : 'known'
    const other = name === 'misses' ? 'known' : 'new'
    if (counts[expected] === operations) return []
    return [
      `${count(counts[other])} of ${count(operations)} ids of the pass of ${name} were ${other}: ${name === 'misses' ? 'the target held some of them before; remove them with scripts/cleanup.js' : 'ids were lost'}`,
    ]
  })

/** @type {readonly Rule[]} */
const rules = [
  (s, named) => !Number.isInteger(Math.log2(s.partitions)) && `${named('partitions')} must be a power of 2`,
  (s, named) => s.fill === 'populate' && `${named('fill')} makes strings only; --fill alone adds the ids`,
  ...atRate('fill', 'arrivals', 'durationMs'),
]

/** Answers of an exact structure. */
export const exact = Object.freeze({
  /** @type {'membership'} */
  workload: 'membership',
  options: Object.freeze(['partitions', 'ids', 'connections', 'pipeline', 'snapshot', 'fill', 'arrivals']),
  fill: Object.freeze({ several: Object.freeze([Object.freeze({ play: 'add', count: null })]) }),
  passes: Object.freeze({
    order: Object.freeze([
      Object.freeze({ name: 'misses', play: 'add' }),
      Object.freeze({ name: 'hits', play: 'add' }),
    ]),
  }),
  play: Object.freeze({ flow: exactly('passes'), operations: Object.freeze(['add']) }),
  keepsKeys: true,
  rules,
  /** @type {Declaration['reasons']} */
  reasons: (_counts, _plan, passes) => unexpected(passes),
  // The id is there after a repeat too, but the reply to it is not that of the first.
  /** @type {'never'} */
  repeat: 'never',
})
