// A fleet in memory, by a seed: boxes that send intervals, leaders that fold them, and a control that loses requests and
// replies, executes some of them later, forgets all of its data, and lets the leader's lease run out. The boxes and the
// leaders are the real ones. Afterwards each interval must have been counted exactly once.
import { boxOf } from '../../lib/fleet/box.js'
import { joinedSeconds } from '../../lib/fleet/interval.js'
import { leaderOf } from '../../lib/fleet/lead.js'
import { seeded } from '../helpers/random.js'
import { boxOfIntervals } from '../helpers/sample-interval.js'
import { controlModel } from './control-model.js'

/** @import { Checkpoint } from '../../lib/fleet/fold.js' */

/** @typedef {{ kind: string, at: number, for: number, which: number }} FleetFault */

const kinds = ['lose-requests', 'lose-replies', 'late', 'forget', 'expire', 'kill', 'away', 'restart']
const steps = 240

/** @param {FleetFault} fault */
export const describeFleetFault = ({ kind, at, for: over, which }) => {
  const words = { kill: `, box ${which}`, restart: `, box ${which}`, forget: '', expire: '' }
  return `${kind} from step ${at}${words[/** @type {'kill'} */ (kind)] ?? ` for ${over}`}`
}

/** @param {{ seed: number, keep?: number[] }} which */
export const playFleet = async ({ seed, keep }) => {
  const random = seeded(seed)
  const all = Array.from({ length: 1 + random.below(6) }, () => ({
    ...{ kind: random.pick(kinds), at: 20 + random.below(steps - 60), for: 5 + random.below(40) },
    which: random.below(4),
  }))
  const faults = keep ? all.filter((_, at) => keep.includes(at)) : all
  const model = controlModel()
  /** @type {(() => unknown)[]} requests that were given up, and are executed all the same */
  const late = []
  let step = 0
  const under = (/** @type {string} */ kind) =>
    faults.some((fault) => fault.kind === kind && step >= fault.at && step < fault.at + fault.for)

  const asked = async (/** @type {() => any} */ execute) => {
    if (under('away')) throw new Error('away')
    if (under('lose-requests') && random.chance(0.4)) throw new Error('request lost')
    if (under('late') && random.chance(0.4)) {
      late.push(execute)
      throw new Error('given up')
    }
    const answer = execute()
    if (under('lose-replies') && random.chance(0.4)) throw new Error('reply lost')
    return answer
  }
  const control = /** @type {any} */ ({})
  for (const name of /** @type {const} */ (['join', 'beat', 'commit', 'read', 'checkpoint']))
    control[name] = (/** @type {[any, any]} */ ...args) => asked(() => model[name](...args))
  let births = 0
  const born = () => {
    const id = `box-${++births}`
    const disk = /** @type {string[]} */ ([])
    const source = boxOfIntervals(id, births, seed * 100 + births, undefined, 2)
    const box = boxOf({
      control,
      id,
      joining: { data: `data-${births}`, digest: 'same', plan: '{}', writers: 4 },
      description: () => JSON.stringify({ id, agents: [births] }),
      mayLead: true,
      store: { append: (text) => void disk.push(text), all: async () => [...disk] },
    })
    const leader = leaderOf({ control, box: id, data: box.data })
    const state = { isAlive: true, leads: false, produced: 0, joined: false, second: 0, hasEnded: false }
    return { id, box, leader, source, disk, ...state }
  }
  const boxes = Array.from({ length: 2 + random.below(3) }, born)

  const turn = async (/** @type {ReturnType<typeof born>} */ one, /** @type {boolean} */ producing) => {
    try {
      if (!one.joined) {
        await one.box.join()
        one.joined = true
      }
      if (producing && random.chance(0.15)) {
        one.second = Math.max(one.second + 1, Math.floor(step / 12))
        one.produced++
        one.box.append(JSON.stringify(one.source.next(one.second)))
      }
      if (!producing && !one.hasEnded) {
        one.box.end(JSON.stringify({ seq: one.produced }))
        one.hasEnded = true
      }
      const answer = await one.box.beat()
      if (answer.hasData) one.leads = answer.leader === one.id
      if (one.leads && random.chance(0.5)) await one.leader.foldNew()
    } catch {
      // The next beat finds out.
    }
  }
  for (; step < steps; step++) {
    for (const fault of faults) {
      if (fault.at !== step) continue
      if (fault.kind === 'forget') model.forget()
      if (fault.kind === 'expire') model.expire()
      if (fault.kind === 'kill' || fault.kind === 'restart') {
        const one = boxes[fault.which % boxes.length]
        const others = boxes.filter(({ isAlive }) => isAlive)
        if (!one.isAlive || others.length < 2) continue
        one.isAlive = false
        if (model.leader() === one.id) model.expire()
        if (fault.kind === 'restart') boxes.push(born())
      }
    }
    if (late.length > 0 && random.chance(0.2)) late.splice(random.below(late.length), 1)[0]()
    const alive = boxes.filter(({ isAlive }) => isAlive)
    await turn(random.pick(alive), step < steps - 60)
  }
  // The faults are over: what is there must come to its end.
  for (const execute of late.splice(0)) execute()
  for (let round = 0; round < 20; round++) for (const one of boxes) if (one.isAlive) await turn(one, false)
  let last = boxes.find(({ id, isAlive }) => isAlive && id === model.leader())
  if (!last) {
    model.expire()
    last = boxes.find(({ isAlive }) => isAlive)
    if (last) await turn(last, false)
  }
  // As the box that makes the result does it: from what the control has.
  const maker = leaderOf({ control, box: last?.id ?? '', data: () => last?.box.data() ?? '' })
  const checkpoint = (await maker.foldNew()) && (await maker.foldNew({ isLast: true }))
  maker.close()
  const forgot = faults.some(({ kind }) => kind === 'forget')
  const broken = brokenInFleet({ boxes, model, checkpoint, forgot })
  for (const one of boxes) {
    one.leader.close()
    one.source.close()
  }
  return { broken, faults, items: null }
}

/** @param {{ boxes: any[], model: ReturnType<typeof controlModel>, checkpoint: Checkpoint | null, forgot: boolean }} played */
const brokenInFleet = ({ boxes, model, checkpoint, forgot }) => {
  const broken = /** @type {string[]} */ ([])
  const check = (/** @type {unknown} */ holds, /** @type {string} */ text) =>
    void (holds || broken.push(text))
  if (!checkpoint) return ['nobody could commit the last fold']
  const lines = joinedSeconds(model.seconds().map((text) => JSON.parse(text)))
  const sum = lines.reduce((total, { items }) => total + items.acked, 0)
  let expected = 0
  let samples = 0
  for (const { id, isAlive, produced, disk, box, joined } of boxes) {
    const found = checkpoint.boxes[id]
    const seq = found?.seq ?? 0
    if (isAlive && joined) {
      check(seq === produced, `${id}: ${seq} of ${produced} intervals were counted`)
      check(box.isDone(), `${id}: not all that it said was taken`)
      check(model.ends()[id] !== undefined, `${id}: its end is not there`)
    } else check(seq <= produced, `${id}: more intervals than it made`)
    check(!found || found.skipped === 0, `${id}: ${found?.skipped} intervals were skipped`)
    if (seq === 0) continue
    const { acked } = JSON.parse(disk[seq - 1]).sums.whole
    const counted = found.sums?.whole.acked
    check(counted === acked, `${id}: ${counted} items, not ${acked}`)
    expected += acked
    samples += seq * 20
  }
  check(sum === expected, `the seconds have ${sum} items, the boxes ${expected}`)
  const { samples: counted } = checkpoint.sums['latency_us.intended'] ?? {}
  check(counted === samples, `${counted} samples, not ${samples}`)
  check(model.left() === 0, `${model.left()} entries were left in the stream`)
  check(forgot || model.seconds().length > 0 || samples === 0, 'no second was given out')
  return broken
}
