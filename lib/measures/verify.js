// What a consumer with --verify found of the values that it read: right, or what else, each with what speaks against it. It is
// judged as it is read and a little later, so the last second has what was still open.
import { exactly } from '../base/typed.js'
import { count, facts } from '../base/units.js'
import { amount, namedFields, some } from './fields.js'
import { sectionOf } from './fold.js'
import { measure, metric } from './measure.js'

const mostExamples = 10
const names = exactly([
  'checked',
  'missing',
  'expired',
  'lagging',
  'stale',
  'corrupt',
  'unexpected',
  'unjudged',
])

export const verify = measure({
  name: 'verify',
  of: ['readers'],
  record: namedFields('verify', names, amount('count')),
  facts: { 'verify.examples': some(mostExamples) },
  by: 'each',
  open({ verifier }) {
    /** @type {Record<string, number>} */
    let before = {}
    return {
      second() {
        const now = { ...verifier?.counts }
        const found = Object.entries(now).map(([name, n]) => [`verify.${name}`, n - (before[name] ?? 0)])
        before = now
        return Object.fromEntries(found)
      },
      facts: () => (verifier ? { 'verify.examples': verifier.examples } : {}),
    }
  },
  summary({ window, facts }) {
    const { checked, ...found } = sectionOf(window, 'verify')
    const examples = facts['verify.examples'] ?? []
    return { verify: checked == null ? null : { checked, ...found, examples } }
  },
  result: {
    verify: {
      type: ['object', 'null'],
      properties: {
        ...Object.fromEntries(names.map((name) => [name, { type: 'number' }])),
        examples: { type: 'array', items: { type: 'string' } },
      },
      required: [],
    },
  },
  metrics: Object.fromEntries(
    names
      .slice(0, -1)
      .map((name) => [
        `verify.${name}`,
        metric(`values ${name}`, 'count', name === 'checked' ? 'neither' : 'less'),
      ]),
  ),
  answers: {
    found: ({ verify: found, plan }) => ({
      label: 'verified',
      text: found ? wordsOf(found, plan.knowsBytes) : '',
    }),
  },
})

/** @param {Record<string, number> & { examples: string[] }} verified @param {boolean} knowsBytes */
function wordsOf({ examples, checked, ...found }, knowsBytes) {
  const seen = Object.entries(found).filter(([, n]) => n > 0)
  const right = checked > 0 ? 'all right' : knowsBytes ? '' : 'only whether values are there'
  return facts([
    checked > 0 ? `${count(checked)} compared byte by byte` : 'nothing compared',
    ...(seen.length > 0 ? seen.map(([what, n]) => `${count(n)} ${what}`) : [right]),
  ])
}
