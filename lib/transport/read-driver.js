// The interface of read drivers, and how they give up.
import { ExitCode, MillraceError } from '../base/errors.js'

/**
 * @import { Socket } from 'node:net'
 * @import { Machine } from '../base/timers.js'
 * @import { Access } from '../servers/dial.js'
 * @import { TargetNode } from '../servers/topology.js'
 * @import { ValueCommand } from '../workloads/declare.js'
 * @import { ValueSink } from '../workloads/shapes.js'
 * @import { Topology } from './slot-map.js'
 *
 * @import { ReadPlan } from '../loads/fetches/plan.js'
 * @import { ReplySink } from '../wire/values.js'
 * @import { IdList } from '../wire/id-list.js'
 *
 * @typedef {object} ReadDriverOptions
 * @property {ReadPlan} plan
 * @property {ReadTarget} target
 * @property {Machine} machine
 * @property {(kind: string, text: string) => void} onEvent
 *
 * @typedef {object} ReadTarget what a read driver needs of a target
 * @property {Access} access
 * @property {() => readonly TargetNode[]} nodes
 * @property {(address: string) => number} [tripMs] to a node and back
 * @property {Topology} topology
 * @property {(address: string, events: { onBytes: (received: Buffer) => void, onClose: (error?: Error) => void }) => Promise<Socket>} dial
 * @property {() => Promise<Topology>} refresh
 * @property {(from: string, to: string) => boolean} follows whether a redirect may be followed: its server is confirmed
 * @property {(address: string, names: string[]) => Promise<unknown>} loadScripts
 *
 * @typedef {object} ReadDriver
 * @property {(args: string[], key: string, sink: ReplySink, consumer: number) => Promise<void>} ask one command
 * @property {(list: IdList, places: Uint32Array, command: ValueCommand, values: ValueSink, consumer: number) => Promise<Record<string, number>>} values
 *   of ids; resolves with what was refused for good, by cause
 * @property {(args: string[], key: string, sink: ReplySink) => Promise<void>} askMaster
 * @property {(key: string, consumer: number) => string} serverOf a key, as an address
 * @property {() => readonly string[]} servers
 * @property {() => readonly number[]} bare shards that have no replica
 * @property {() => Record<string, { commands: number, bytes_in: number | null }>} figures by server
 * @property {() => void} watch once a second
 * @property {() => boolean} [hasOverdue] a client library has left a command unanswered for too long at the end of a run
 * @property {() => void} close
 */

/** A read that was given up; `causeName` is what it is counted by. */
export class ReadError extends MillraceError {
  /** @param {string} cause @param {string} message */
  constructor(cause, message) {
    super('READ', message, { exitCode: ExitCode.target })
    this.causeName = cause
  }
}
