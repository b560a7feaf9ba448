// The control of a fleet in memory: what the scripts of lua/ do, for simulations. A test holds it against a real server.
import { withoutNodes } from '../../lib/fleet/control.js'

/** @param {string} id */
const numberOf = (id) => Number(id.split('-')[0])

export const controlModel = () => {
  /** @type {Record<string, any> | null} */
  let run = null
  let leader = ''
  let next = 0
  /** @type {[string, string][]} */
  let stream = []
  /** @type {Record<string, string>} */
  let boxes = {}
  /** @type {Record<string, string>} */
  let ends = {}
  /** @type {string | null} */
  let checkpoint = null
  /** @type {string[]} */
  let seconds = []
  return {
    /** @param {any} joining */
    join({ data, digest, plan, box, description, startMs }) {
      if (run?.state === 'done')
        return { state: 'done', data: run.data, plan: run.plan, startMs: run.startMs, begunMs: 0 }
      if (run && run.digest !== digest)
        return { state: 'other', data: run.data, plan: run.plan, startMs: run.startMs, begunMs: 0 }
      run ??= { data, digest, plan, startMs, state: startMs === null ? 'joining' : 'started', folded: '' }
      boxes[box] = description
      return { state: 'ok', data: run.data, plan: run.plan, startMs: run.startMs, begunMs: 0 }
    },
    /** @param {import('../../lib/fleet/control.js').Beat} beat @returns {import('../../lib/fleet/control.js').Answer} */
    beat({ data, box, mayLead, description = '', end = '', intervals }) {
      if (run?.data !== data)
        return { known: false, leader: '', state: '', startMs: null, stop: '', stopMs: null, refused: '' }
      if (description) boxes[box] = description
      for (const text of intervals) {
        const isLate = leader !== '' && leader !== box && text.includes('"sampler":')
        stream.push([`${++next}-0`, isLate ? withoutNodes(text) : text])
      }
      if (end) ends[box] = end
      if (mayLead && leader === '') leader = box
      return {
        known: true,
        leader,
        state: run.state,
        startMs: run.startMs,
        stop: '',
        stopMs: null,
        refused: '',
      }
    },
    /** @param {Parameters<import('../../lib/fleet/control.js').Control['commit']>[0]} folded */
    commit({ data, box, before, name, last, checkpoint: text, seconds: more }) {
      if (run?.data !== data || leader !== box || run.folded !== before) return false
      checkpoint = text
      run.folded = name
      seconds.push(...more)
      stream = stream.filter(([id]) => numberOf(id) > numberOf(last))
      return true
    },
    /** @param {string} last @param {number} count @returns {[string, string][]} */
    read: (last, count) => stream.filter(([id]) => numberOf(id) > numberOf(last)).slice(0, count),
    checkpoint: () => checkpoint,
    /** The leader's lease ran out. */
    expire() {
      leader = ''
    },
    /** A restart without its data; ids of entries go on, as a clock does. */
    forget() {
      run = null
      leader = ''
      stream = []
      boxes = {}
      ends = {}
      checkpoint = null
      seconds = []
    },
    leader: () => leader,
    left: () => stream.length,
    seconds: () => seconds,
    ends: () => ends,
  }
}
