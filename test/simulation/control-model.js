// The control of a fleet in memory: what the scripts of lua/ do, for simulations. A test holds it against a real server.
import { withoutNodes } from '../../lib/fleet/control.js'

/** @import { Answer, Beat, Control } from '../../lib/fleet/control.js' */

const numberOf = (/** @type {string} */ id) => Number(id.split('-')[0])
const unknown = { hasData: false, state: /** @type {const} */ ('') }

export const controlModel = () => {
  const nothing = () => ({
    run: /** @type {Record<string, any> | null} */ (null),
    leader: '',
    stream: /** @type {[string, string][]} */ ([]),
    ends: /** @type {Record<string, string>} */ ({}),
    checkpoint: /** @type {string | null} */ (null),
    seconds: /** @type {string[]} */ ([]),
  })
  let kept = nothing()
  let next = 0
  const after = (/** @type {string} */ last) => kept.stream.filter(([id]) => numberOf(id) > numberOf(last))
  return {
    /** @param {any} joining */
    join({ data, digest, plan, startMs }) {
      const state = startMs === null ? 'joining' : 'started'
      kept.run ??= { data, digest, plan, startMs, state, folded: '' }
      const { run } = kept
      const answer = run.state === 'done' ? 'done' : run.digest === digest ? 'ok' : 'other'
      return { state: answer, data: run.data, plan: run.plan, startMs: run.startMs, begunMs: 0 }
    },
    /** @param {Beat} beat @returns {Answer} */
    beat({ data, box, mayLead, end = '', intervals }) {
      const { run } = kept
      const withoutRun = { ...unknown, leader: '', startMs: null, stop: '', stopMs: null, refused: '' }
      if (run?.data !== data) return withoutRun
      for (const text of intervals) {
        const isLate = kept.leader !== '' && kept.leader !== box && text.includes('"sampler":')
        kept.stream.push([`${++next}-0`, isLate ? withoutNodes(text) : text])
      }
      if (end) kept.ends[box] = end
      if (mayLead) kept.leader ||= box
      return { ...withoutRun, hasData: true, leader: kept.leader, state: run.state, startMs: run.startMs }
    },
    /** @param {Parameters<Control['commit']>[0]} folded */
    commit({ data, box, before, name, last, checkpoint: text, seconds: more }) {
      const { run, leader, seconds } = kept
      if (run?.data !== data || leader !== box || run.folded !== before) return false
      run.folded = name
      seconds.push(...more)
      kept.checkpoint = text
      kept.stream = after(last)
      return true
    },
    /** @param {string} last @param {number} count @returns {[string, string][]} */
    read: (last, count) => after(last).slice(0, count),
    checkpoint: () => kept.checkpoint,
    /** The leader's lease ran out. */
    expire() {
      kept.leader = ''
    },
    /** A restart without its data; ids of entries go on, as a clock does. */
    forget() {
      kept = nothing()
    },
    leader: () => kept.leader,
    left: () => kept.stream.length,
    seconds: () => kept.seconds,
    ends: () => kept.ends,
  }
}
