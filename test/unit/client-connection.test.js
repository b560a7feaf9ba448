import { askingCommand, clientConnection } from '../../lib/loads/clients/connection.js'
import { noTally } from '../../lib/wire/decode.js'
import { notes, testScenes } from '../helpers/scenes.js'
import { valuesOf } from '../helpers/table.js'

/** A connection whose server says what the test wants. */
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
  const connection = clientConnection({
    client: 0,
    address: 'a:1',
    room: 4,
    tally: noTally(),
    open: (handlers) => {
      onBytes = handlers.onBytes
      return new Promise((resolve) => {
        open = () => resolve(socketOf())
      })
    },
    events: {
      onAnswered: (_, from, count) => note(`answered ${connection.ns[from & connection.mask]} + ${count}`),
      onRefused: (_, place, line) => note(`refused ${connection.operationAt(place).n}: ${line}`),
      onRead: () => {},
      onUp: () => note('up'),
      onDown: () => note('down'),
      onRenewed: (_, tookMs) => note(`renewed in ${tookMs} ms`),
    },
    clock: () => state.nowMs,
    random: () => 1,
  })
  const push = (/** @type {number} */ n, measured = true) =>
    connection.push(0, n, 0, state.nowMs, measured, 0, 0)
  const steps = {
    connect: () => void connection.connect(),
    opens: () => {
      open()
      return new Promise(setImmediate)
    },
    close: connection.close,
    send: (/** @type {string} */ n, /** @type {string} */ how) => push(Number(n), how !== 'unmeasured'),
    ask: () => connection.push(askingCommand, 0, 0, 0, false, 0, 0),
    at: (/** @type {string} */ ms) => {
      state.nowMs = Number(ms)
    },
    ok: (/** @type {string} */ count) => onBytes(Buffer.from('+OK\r\n'.repeat(Number(count)))),
    refuse: (/** @type {string[]} */ ...words) => onBytes(Buffer.from(`-${words.join(' ')}\r\n`)),
    silence: () => note(`silent ${connection.silentMs()} ms`),
    drain: () => note(`owed ${valuesOf(connection.drain(), 'n', 'measured').join(' ')}`.trim()),
    renew: () => note(connection.renew() ? 'renews' : 'no'),
  }
  const seen = () => `${taken()} [${connection.inFlight()} on ${connection.isUp() ? 'up' : 'down'}]`.trim()
  return { steps, seen }
}

// Behind each row: what happened, how many operations are in flight, and whether new ones may come.
testScenes(
  `
it is silent for as long as it owes answers, not for as long as it had nothing to do
  connect, opens, at 9000, silence, send 1, silence -> up, silent 0 ms, silent 0 ms [1 on up]
  at 10000, send 2, silence -> silent 1000 ms [2 on up]
  ok 1, silence -> answered 1 + 1, silent 0 ms [1 on up]

ASKING has a reply of its own, which settles no operation, also when it is refused
  connect, opens, send 1, ask, send 2, ask, send 3 -> up [5 on up]
  ok 3 -> answered 1 + 1, answered 2 + 1 [2 on up]
  refuse LOADING it is, refuse ASK 1 b:1 -> refused 3: ASK 1 b:1 [0 on up]

what a lost connection owes comes back as it was sent
  connect, opens, send 1 unmeasured, ask, send 2 -> up [3 on up]
  drain, drain -> owed 1 false 2 true, owed [0 on up]

one that opens after the end is closed
  connect, close, opens -> closed [0 on down]

a connection that is renewed takes nothing new, is closed when all that it owes has come, and made anew
  connect, opens, send 1, renew, renew -> up, renews, no [1 on down]
  at 5, ok 1 -> answered 1 + 1, closed [0 on down]
  at 8, opens -> renewed in 3 ms [0 on up]
  renew -> closed, renews [0 on down]
`,
  scene,
)
