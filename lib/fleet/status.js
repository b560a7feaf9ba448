// How a run of a fleet is going, from what its control has: plain data, for people and programs.

import { boxTrouble } from '../base/box-trouble.js'
import { sectionOf } from '../measures/fold.js'
import { others, reading, readsName } from '../measures/index.js'
import { sumOfBoxes } from './fold.js'
import { liveNow, readersIn } from './gather.js'
import { sumOfSeconds } from './measured.js'

/**
 * @import { Control } from './control.js'
 * @import { BoxFold, Checkpoint } from './fold.js'
 * @import { BoxDescription } from './gather.js'
 * @import { Redis } from 'ioredis'
 */

// Every box asks: 200 of them are 200 questions a second.
const everyMs = 3000

/**
 * Says on every box, while a run goes on, that others are lost or back.
 * @param {object} needs
 * @param {Control} needs.control
 * @param {string} needs.run
 * @param {number} needs.writers
 * @param {(line: string) => void} needs.say
 */
export const lossesOf = ({ control, run, writers, say }) => {
  let before = 0
  let isUnderWay = false
  const compare = async () => {
    const [{ descriptions, live }, ends] = await Promise.all([liveNow(control, writers), control.ends()])
    const lost = descriptions.filter(
      (description) =>
        description.agents.length > 0 && !live.includes(description) && !(description.id in ends),
    )
    if (lost.length === before) return
    const { boxes = [] } = (await statusOf(control, run)) ?? {}
    before = lost.length
    say(boxTrouble(boxes) || 'all boxes are there again')
  }
  /** A control that is away is asked again. */
  const check = async () => {
    if (isUnderWay) return
    isUnderWay = true
    await compare().catch(() => {})
    isUnderWay = false
  }
  /** @type {NodeJS.Timeout | undefined} */
  let timer
  return {
    begin() {
      timer ??= setInterval(check, everyMs)
    },
    end: () => clearInterval(timer),
  }
}

// A box that has not been heard of for longer than this is shown as silent.
const silentMs = 2500

/** @typedef {NonNullable<Awaited<ReturnType<typeof statusOf>>>} Status */

/** The runs that a control knows. @param {Redis} client */
export const runsOn = async (client) => {
  /** @type {string[]} */
  const runs = []
  let cursor = '0'
  do {
    const [next, keys] = await client.scan(cursor, 'MATCH', 'millrace:fleet:*:run', 'COUNT', 1000)
    cursor = next
    runs.push(...keys.map((key) => key.slice('millrace:fleet:'.length, -':run'.length)))
  } while (cursor !== '0')
  return runs.sort()
}

/**
 * @param {BoxDescription} description
 * @param {{ isLive: boolean, hasEnded: boolean, folded: BoxFold | undefined, quietMs: number | null, state: string }} seen
 */
const boxStatus = (description, { isLive, hasEnded, folded, quietMs, state }) => {
  const isSilent = state === 'started' && !hasEnded && quietMs !== null && quietMs > silentMs
  return {
    id: description.id,
    host: description.host,
    pid: description.pid,
    kind: description.kind,
    writers: description.kind === 'producer' ? description.agents : [],
    readers: description.kind === 'consumer' ? description.agents : [],
    state: hasEnded
      ? 'done'
      : !isLive
        ? 'lost'
        : isSilent
          ? 'silent'
          : folded
            ? description.kind === 'producer'
              ? 'writing'
              : 'reading'
            : description.ready
              ? 'ready'
              : 'joining',
    last_s: folded ? folded.at_ms / 1000 : null,
    silent_s: isSilent ? Number(quietMs) / 1000 : 0,
    achieved: folded?.achieved ?? null,
    p99_us: folded?.p99_us ?? null,
    busy_pct: folded?.client.busy_pct ?? null,
    cpu_pct: folded?.client.cpu_pct ?? null,
    loop_delay_ms_p99: folded?.client.loop_delay_ms_p99 ?? null,
    offset_ms: description.offset_ms,
    uncertainty_ms: description.uncertainty_ms,
    items: folded?.sums?.whole ?? null,
    [readsName]:
      folded && description.kind === 'consumer' ? sectionOf(folded.measured.whole, readsName) : null,
  }
}

/** Writers first. @param {{ writers: readonly number[], readers: readonly number[] }} box */
const orderOf = ({ writers, readers }) => writers[0] ?? 1e6 + readers[0]

/** @param {Control} control @param {string} run */
export const statusOf = async (control, run) => {
  const fields = await control.run()
  if (fields.data === undefined) return null
  const writers = Number(fields.writers)
  const [nowMs, { descriptions: all, live }, ends, beats, checkpointText, lastText, bytes] =
    await Promise.all([
      control.time(),
      liveNow(control, writers),
      control.ends(),
      control.beats(),
      control.checkpoint(),
      control.client.lindex(control.keys.seconds, -1),
      control.bytes(),
    ])
  /** @type {Checkpoint | null} */
  const checkpoint = checkpointText === null ? null : JSON.parse(checkpointText)
  const last = lastText === null ? null : JSON.parse(lastText)
  const descriptions = all.filter(({ agents }) => agents.length > 0)
  const { state } = fields
  const boxes = descriptions
    .map((description) =>
      boxStatus(description, {
        isLive: live.includes(description),
        hasEnded: description.id in ends,
        folded: checkpoint?.boxes[description.id],
        quietMs: description.id in beats ? Math.max(0, nowMs - Number(beats[description.id])) : null,
        state,
      }),
    )
    .sort((a, b) => orderOf(a) - orderOf(b))
  const folds = Object.values(checkpoint?.boxes ?? {})
  const plan = JSON.parse(fields.plan)
  const startMs = fields.start === undefined ? null : Number(fields.start)
  return {
    run,
    state,
    stopped_by: fields.stop ?? null,
    refused: fields.refused ?? null,
    started: startMs === null ? null : new Date(startMs).toISOString(),
    elapsed_s: startMs === null ? null : Math.max(0, (Number(fields.ended ?? nowMs) - startMs) / 1000),
    duration_s: plan.durationMs === null ? null : plan.durationMs / 1000,
    strategy: String(plan.strategy),
    writers,
    readers: readersIn(fields.readers),
    nominal: plan.nominalHz,
    leader: await control.client.get(control.keys.leader),
    items: sumOfBoxes(folds.map(({ sums }) => sums)).whole,
    [readsName]: sectionOf(sumOfSeconds(folds.map((folded) => ({ end: null, folded }))).whole, readsName),
    second: last && {
      at_s: last.at_ms / 1000,
      achieved: last.achieved,
      writers: last.writers,
      latency_us: last.latency_us,
      [others.path]: last[others.path],
      ...(last[readsName] && Object.fromEntries(reading.second.map((name) => [name, last[name]]))),
      nodes: last.nodes,
    },
    boxes,
    control_bytes: bytes,
  }
}
