// One connection of a worker: commands are written together, and their replies come together. A connection that is lost takes
// the replies with it, and another is made.
import { MillraceError } from '../base/errors.js'
import { linkOf } from '../transport/reconnecting-socket.js'
import { commandBytes } from '../wire/encode.js'
import { treeReader } from '../wire/trees.js'

/** @import { Reply } from '../wire/trees.js' */

/** The replies were lost: the commands may have been executed, if they were sent. */
export class LostReply extends Error {
  /** @param {boolean} isSent */
  constructor(isSent) {
    super()
    this.isSent = isSent
  }
}

/**
 * @param {object} needs
 * @param {Parameters<typeof linkOf>[0]['open']} needs.open
 * @param {(error?: Error) => void} needs.onDown
 * @param {(tookMs: number) => void} [needs.onRenewed]
 * @param {() => number} needs.clock
 * @param {() => number} needs.random
 */
export const workerConnection = ({ open, onDown, onRenewed = () => {}, clock, random }) => {
  const calls =
    /** @type {{ left: number, replies: Reply[], resolve: (replies: Reply[]) => void, reject: (error: Error) => void }[]} */ ([])
  let waiting = /** @type {(() => void)[]} */ ([])
  let closed = false

  const wake = () => {
    const all = waiting
    waiting = []
    for (const resolve of all) resolve()
  }
  /** @param {Reply} reply */
  const take = (reply) => {
    const call = calls[0]
    if (call === undefined) throw new MillraceError('PROTOCOL', 'the server answers more than it was asked')
    call.replies.push(reply)
    if (--call.left > 0) return
    calls.shift()
    call.resolve(call.replies)
  }
  const fail = () => {
    for (const { reject } of calls.splice(0)) reject(new LostReply(true))
  }
  const link = linkOf({
    open,
    decoder: () => treeReader(take),
    owes: () => calls.length > 0,
    onRead: () => {},
    onUp: wake,
    onDown: (error) => {
      fail()
      if (!closed) onDown(error)
    },
    onRenewed: (tookMs) => {
      onRenewed(tookMs)
      wake()
    },
    clock,
    random,
  })

  return {
    connect: link.connect,
    isUp: link.isUp,
    renew: link.renew,
    cut: link.cut,
    /** Resolves when it is up, or closed. */
    up: () =>
      link.isUp() || closed
        ? Promise.resolve()
        : new Promise((/** @type {(value: void) => void} */ resolve) => {
            waiting.push(resolve)
          }),
    /** In one write. @param {readonly string[][]} commands @returns {Promise<Reply[]>} */
    call: (commands) =>
      new Promise((resolve, reject) => {
        if (closed || !link.isUp()) return reject(new LostReply(false))
        const bytes = commandBytes(commands)
        calls.push({ left: commands.length, replies: [], resolve, reject })
        link.write(bytes)
      }),
    close() {
      closed = true
      link.close()
      fail()
      wake()
    },
  }
}

/** @typedef {ReturnType<typeof workerConnection>} WorkerConnection */
