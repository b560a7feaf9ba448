import { systemTimers } from '../../lib/base/timers.js'
import { laneOf } from '../../lib/transport/lane.js'
import { notes, testScenes } from '../helpers/scenes.js'

/** A lane whose server says what the test wants. */
const scene = () => {
  const { note, taken } = notes()
  const state = { nowMs: 0 }
  /** @type {(bytes: Buffer) => void} */
  let onBytes = () => {}
  /** @type {() => void} */
  let open = () => {}
  const socketOf = () => {
    const socket = { destroyed: false, write: () => true, writableLength: 0, destroy: () => {} }
    socket.destroy = () => {
      socket.destroyed = true
      note('closed')
    }
    return /** @type {any} */ (socket)
  }
  const lane = /** @type {typeof laneOf<string>} */ (laneOf)({
    open: (handlers) => {
      onBytes = handlers.onBytes
      return new Promise((resolve) => (open = () => resolve(socketOf())))
    },
    events: {
      onAnswered: (name, n) => note(`answered ${name} + ${n}`),
      onRefused: (name, line, left) => note(`refused ${name}: ${line}, ${left} left`),
      onUp: () => note('up'),
      onDown: () => note('down'),
      onRenewed: (_, tookMs) => note(`renewed in ${tookMs} ms`),
    },
    machine: { clock: () => state.nowMs, random: () => 1, timers: systemTimers },
  })
  const steps = {
    connect: () => void lane.connect(),
    opens: () => {
      open()
      return new Promise(setImmediate)
    },
    close: lane.close,
    send: (/** @type {string} */ name, replies = '1', lead = '0') =>
      lane.push(name, Number(replies), state.nowMs, Number(lead)),
    at: (/** @type {string} */ ms) => (state.nowMs = Number(ms)),
    ok: (/** @type {string} */ count) => onBytes(Buffer.from('+OK\r\n'.repeat(Number(count)))),
    refuse: (/** @type {string[]} */ ...words) => onBytes(Buffer.from(`-${words.join(' ')}\r\n`)),
    silence: () => note(`silent ${lane.silentMs()} ms`),
    drain: () => note(`owed ${lane.drain().join(' ')}`.trim()),
    renew: () => note(lane.renew() ? 'renews' : 'no'),
  }
  const seen = () => `${taken()} [${lane.owed()} on ${lane.isUp() ? 'up' : 'down'}]`.trim()
  return { steps, seen }
}

// Behind each row: what happened, how many operations are in flight, and whether new ones may come.
testScenes(scene)(`
it is silent for as long as it owes answers, not for as long as it had nothing to do
  connect, opens, at 9000, silence, send 1, silence -> up, silent 0 ms, silent 0 ms [1 on up]
  at 10000, send 2, silence -> silent 1000 ms [2 on up]
  ok 1, silence -> answered 1 + 1, silent 0 ms [1 on up]

ASKING has a reply of its own, which settles no request, also when it is refused
  connect, opens, send 1, send 2 1 1, send 3 1 1 -> up [5 on up]
  ok 3 -> answered 1 + 1, answered 2 + 1 [2 on up]
  refuse LOADING it is, refuse ASK 1 b:1 -> refused 3: ASK 1 b:1, 0 left [0 on up]

a request of several commands takes as many replies, in runs
  connect, opens, send 1 3, send 2 2 -> up [5 on up]
  ok 2, refuse ERR no, ok 2 -> answered 1 + 2, refused 1: ERR no, 0 left, answered 2 + 2 [0 on up]
  send 3 2, refuse ERR no, ok 1 -> refused 3: ERR no, 1 left, answered 3 + 1 [0 on up]

what a lost connection owes comes back in the order it was sent
  connect, opens, send 1, send 2 1 1 -> up [3 on up]
  drain, drain -> owed 1 2, owed [0 on up]

one that opens after the end is closed
  connect, close, opens -> closed [0 on down]

a lane that is renewed takes nothing new, is closed when all that it owes has come, and made anew
  connect, opens, send 1, renew, renew -> up, renews, no [1 on down]
  at 5, ok 1 -> answered 1 + 1, closed [0 on down]
  at 8, opens -> renewed in 3 ms [0 on up]
  renew -> closed, renews [0 on down]
`)
