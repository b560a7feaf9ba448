// Passes over all numbers, one after the other, and how what the first of them stored is encoded.
import * as S from '../base/shape.js'
import { bytes, count, facts, micros } from '../base/units.js'
import { metric, partMetric } from './measure.js'
import { section } from './section.js'

/** @import { Shaped } from '../base/shape-types.js' */

const pass = S.object({
  name: S.text,
  operations: S.number,
  duration_s: S.number,
  rate: S.number,
  server_cpu_us: S.figure,
  memory_bytes: S.figure,
  counts: S.byName(S.number),
})

/** @typedef {Shaped<typeof pass>} Pass */

/** @param {string} name @param {(pass: Pass) => number | null} read */
const ofPass = (name, read) => (/** @type {readonly Pass[]} */ passes) => {
  const found = passes.find((one) => one.name === name)
  return found ? read(found) : null
}

/** @param {Pass} of */
const passWords = ({ operations, rate, server_cpu_us: cpuUs, counts }) =>
  facts([
    `${count(operations)} operations`,
    `${count(Math.round(rate))} operations/s`,
    cpuUs !== null && `server CPU ${micros(cpuUs)} each, idle included`,
    ...Object.entries(counts).map(([reply, n]) => `${reply} ${count(n)}`),
  ])

/** @param {Pass} first @param {number} items @param {readonly string[]} kinds */
const storedWords = ({ memory_bytes: grown }, items, kinds) =>
  facts([
    grown === null
      ? 'memory: too little to tell; more --items show it'
      : `${bytes(grown)}, ${bytes(grown / items)} each`,
    kinds.length > 0 && `encoded as ${kinds.join(', ')}`,
  ])

export const passes = section('passes', S.nullable(S.list(pass)), {
  metrics: {
    ...Object.fromEntries(
      ['misses', 'hits', 'increments'].flatMap((name) => [
        [
          `passes.${name}.rate`,
          { ...metric(`rate of ${name}`, 'rate', 'more'), value: ofPass(name, ({ rate }) => rate) },
        ],
        [
          `passes.${name}.server_cpu_us`,
          {
            ...metric(`server CPU per operation, ${name}, idle included`, 'us'),
            value: ofPass(name, ({ server_cpu_us: cpuUs }) => cpuUs),
          },
        ],
      ]),
    ),
    'passes.memory_bytes_per_item': {
      ...metric('memory per id', 'bytes'),
      value: ofPass('misses', ({ memory_bytes: grown, operations }) =>
        grown === null ? null : grown / operations,
      ),
    },
    'passes.false_positives': {
      ...partMetric('false positives', 'ratio'),
      value: ofPass('others', ({ counts, operations }) => counts.known / operations),
    },
  },
  rows: (all, { plan, encodings }) => ({
    ...Object.fromEntries(all.map((one) => [one.name, passWords(one)])),
    stored: all.length > 0 && storedWords(all[0], plan.items, Object.keys(encodings ?? {})),
  }),
  brief: (all, { plan, bundles }) => {
    const [first, ...others] = all.map(({ name, rate, server_cpu_us: cpuUs }) => [
      name,
      `${count(Math.round(rate))} operations/s${cpuUs === null ? '' : `, server CPU ${micros(cpuUs)} each`}`,
    ])
    const grown = all[0]?.memory_bytes ?? null
    const memory = grown !== null && `${bytes(grown / plan.items)} per key, ${bytes(grown)} in all`
    return first && !bundles ? Object.fromEntries([first, ['memory', memory], ...others]) : {}
  },
})

export const encodings = section('encodings', S.nullable(S.byName(S.number)), {})
