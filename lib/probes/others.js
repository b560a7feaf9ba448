// What others did on the servers: commands and connections beyond those of the run, on masters and replicas, and the CPU
// that they may have cost. Their number counts and not their time: the usec of commandstats has no system calls, of which
// a call that comes alone is mostly made. Pure.
import { exactly } from '../base/typed.js'
import { bytes, plainText, rate } from '../base/units.js'
import { isRead } from '../wire/read-commands.js'

/**
 * @import { Plan } from '../loads/plan.js'
 * @import { CommandUse } from '../wire/info.js'
 * @import { strategyOf } from '../workloads/bound-strategy.js'
 *
 * @typedef {object} RoleTotals what the nodes of a role did in the same time
 * @property {number} nodes
 * @property {number} overS for how long they were watched
 * @property {Record<string, CommandUse>} commands
 * @property {Record<string, number> | null} asked commands that this process sent them beside the load; null: not counted
 * @property {number | null} connections that they accepted
 * @property {number | null} loadBytes of the load, in and out
 * @property {number | null} besideBytes of neither the load, replication nor INFO; null: not known
 * @property {number | null} pings that this run sent them as another client; null: not counted
 *
 * @typedef {object} Others
 * @property {string} command that ran most of what was not ours; 'connect' where connections came and went, 'bytes' where
 *   more was on the network than calls explain
 * @property {number} calls of it, or bytes
 * @property {number} calls_per_s of all their commands
 * @property {'masters' | 'replicas'} on where most of them ran
 * @property {'consumers'} [by] they are what consumers of the model run
 * @property {number} cpu_s that they may have cost, at most
 * @property {number} masters_cpu_s of it on the masters
 *
 * @typedef {object} Run
 * @property {Pick<Plan, 'totalAgents' | 'agents' | 'driver' | 'spacingMs' | 'reads'>} plan
 * @property {Pick<ReturnType<typeof strategyOf>, 'runCommands' | 'consumerCommands' | 'runsUnknown'>} strategy
 * @property {number} processes of the run at most, this one included
 * @property {boolean} opensConnections the load opens connections while it runs
 */

/** PINGs that a run sends as another client, in its seconds. */
export const pingsPath = 'pings_sent'
// A call that comes alone wakes the server: 8 us of CPU at 5,000 a second, 16 at 1,500, 37 at 300. Of what it executes,
// copying the reply to the socket may cost as much again.
const callS = 40e-6
const executing = 2
/** In the place of a command, where connections came and went. */
const connecting = 'connect'
// Accepting, greeting and closing a connection.
const connectS = 200e-6
/** In the place of a command, where bytes were on the network that no call explains: MONITOR, messages, large replies. */
const network = 'bytes'
// A line of MONITOR cost 42 ns a byte, a message to a subscriber 45.
const byteS = 60e-9
const callBytes = 1000
// What is on its way at either end of the window, and what leases and PINGs take: 1.1 kB a second.
const ownBytes = { edgesS: 0.1, aCall: 300, perS: 2000 }

// A run sends one PING in each 20 ms to a master, as another client; what shakes its timer.
const pingHz = 50
const timers = 0.05
const stalledS = 0.8
// Scripts of leases and plans run up to so many of a command for each call.
const inScripts = 2
const scripts = ['eval', 'evalsha']
// What Redis and its clients say to each other: it comes with a connection, which is counted, or with replication.
const greetings = new Set(
  'replconf psync auth hello select asking readonly client command quit reset cluster wait waitaof'.split(
    ' ',
  ),
)
/** What a replica executes for its master: the effects of scripts arrive as commands. @param {string} name */
export const isReplicated = (name) => {
  const [command] = name.split('|')
  return !isRead(command) && !greetings.has(command) && !isScript(command)
}
export const isScript = (/** @type {string} */ name) => /^(eval|evalsha|fcall)(_ro)?$/.test(name)
// What a run sends beside its items, and what its scripts run.
const besideItems = new Set(
  (
    'ping info time eval evalsha get getrange set setrange del unlink exists hget hgetall hset hdel hlen pttl pexpire ' +
    'expire type scan dbsize multi exec script'
  ).split(' '),
)
// Of these, calls whose count was not in time for the same INFO.
const strayHz = 1
const strays = 8
// Runs of earlier versions did not count what they sent.
const uncountedHz = 50

/** A subcommand belongs to its command. @param {Record<string, CommandUse>} commands */
const byCommand = (commands) => {
  /** @type {Record<string, CommandUse>} */
  const all = {}
  for (const [name, { calls, usec }] of Object.entries(commands)) {
    const [command] = name.split('|')
    // Some servers count a subcommand twice: as itself and as its command.
    if (name === command && Object.keys(commands).some((other) => other.startsWith(`${name}|`))) continue
    all[command] ??= { calls: 0, usec: 0 }
    all[command].calls += calls
    all[command].usec += usec
  }
  return all
}

const noPings = { sent: 0, within: 0 }

/** PINGs of all processes of the run. @param {RoleTotals} role @param {number} processes */
const ownPings = ({ nodes, overS, pings }, processes) => {
  const byTimer = pingHz * nodes * overS
  return {
    sent: (pings ?? byTimer) + (processes - 1) * byTimer,
    // Those of a process that stalled come at once after it.
    within: (pings === null ? stalledS * pingHz * nodes : 0) + timers * processes * byTimer,
  }
}

/** Calls of a command beyond those of the run. @param {RoleTotals} role @param {Run} run @param {(name: string) => boolean} isCounted @param {ReadonlySet<string>} [ofLoad] */
const beyond = (role, { plan, strategy, processes }, isCounted, ofLoad = strategy.runCommands) => {
  const { overS, asked } = role
  const { totalAgents, agents } = plan
  // A box asks for the leases of all others each second; another process of the run sends what this one does.
  const asksHz = totalAgents * Math.ceil(totalAgents / Math.max(1, agents.length))
  const othersHz = processes > 1 ? (processes - 1) * 5 + asksHz : 0
  const stray = (asked ? strayHz + othersHz : uncountedHz + asksHz) * overS + strays
  const evals = scripts.reduce((sum, name) => sum + (asked?.[name] ?? 0), 0)
  return Object.entries(byCommand(role.commands)).flatMap(([name, { calls, usec }]) => {
    if (ofLoad.has(name) || !isCounted(name)) return []
    const pings = name === 'ping' ? ownPings(role, processes) : noPings
    const own = (asked?.[name] ?? 0) + pings.sent
    const within = besideItems.has(name) ? stray + inScripts * evals + pings.within : 0
    const more = calls - own
    return more > within ? [{ name, calls: more, usec: (usec * more) / calls }] : []
  })
}

/** Connections beyond those of the run. @param {RoleTotals} role @param {Run} run */
const connectionsBeyond = ({ connections, overS, nodes }, { opensConnections, processes }) => {
  if (connections === null || opensConnections || processes > 1) return 0
  return Math.max(0, connections - strays * nodes - strayHz * overS)
}

/** Bytes beyond those of the run and of calls that were found. @param {RoleTotals} role @param {Run} run @param {number} calls */
const bytesBeyond = ({ besideBytes, loadBytes, asked, overS, nodes, pings }, { plan, processes }, calls) => {
  if (!besideBytes || processes > 1 || (plan.driver ?? 'socket') !== 'socket') return 0
  const own = Object.values(asked ?? {}).reduce((sum, n) => sum + n, pings ?? pingHz * nodes * overS)
  const edgesS = Math.max(ownBytes.edgesS, (plan.spacingMs ?? 0) / 1000)
  const edges = ((loadBytes ?? 0) / Math.max(1, overS)) * edgesS
  const within = edges + own * ownBytes.aCall + overS * nodes * ownBytes.perS
  return Math.max(0, besideBytes - within - calls * callBytes)
}

const sumOf = (/** @type {readonly { calls: number, usec: number }[]} */ all) =>
  all.reduce((sum, { calls, usec }) => sum + calls * callS + executing * usec * 1e-6, 0)

/**
 * @param {{ masters: RoleTotals, replicas: RoleTotals | null }} roles
 * @param {Run} run
 * @returns {Others | null} null: nobody
 */
export const othersIn = ({ masters, replicas }, run) => {
  const { strategy, plan } = run
  if (strategy.runsUnknown) return null
  const onReplicas = plan.reads === undefined ? new Set() : strategy.runCommands
  const roles = [
    {
      /** @type {'masters'} */
      on: 'masters',
      role: masters,
      calls: beyond(masters, run, (name) => !greetings.has(name)),
    },
    // Replicas serve reads only. Their writes are those of their masters, often under other names: SETEX arrives as SET.
    ...(replicas
      ? [{ on: exactly('replicas'), role: replicas, calls: beyond(replicas, run, isRead, onReplicas) }]
      : []),
  ]
  const consumers = strategy.consumerCommands
  const areConsumers = roles.some(({ role }) => [...consumers.signs].some((name) => name in role.commands))
  const found = roles.map(({ on, role, calls }) => {
    const opened = connectionsBeyond(role, run)
    const callsS = sumOf(calls)
    // A consumer gets many values by few calls.
    const bytes = areConsumers ? 0 : bytesBeyond(role, run, countOf(calls))
    return { on, role, calls, opened, bytes, callsS, cpuS: callsS + opened * connectS + bytes * byteS }
  })
  const cpuS = found.reduce((sum, one) => sum + one.cpuS, 0)
  if (cpuS === 0) return null
  const [most] = found.toSorted((a, b) => b.cpuS - a.cpuS)
  const ofConsumers = (/** @type {{ name: string }} */ { name }) => areConsumers && consumers.all.has(name)
  const foreign = most.calls.filter((one) => !ofConsumers(one))
  // Who does more: another application beside consumers is named before them.
  const isForeign =
    sumOf(foreign) + most.opened * connectS + most.bytes * byteS > sumOf(most.calls.filter(ofConsumers))
  return {
    ...namedBy(most, isForeign ? foreign : most.calls.filter(ofConsumers)),
    on: most.on,
    ...(!isForeign && { by: exactly('consumers') }),
    cpu_s: cpuS,
    masters_cpu_s: found[0].cpuS,
  }
}

const countOf = (/** @type {readonly { calls: number }[]} */ all) =>
  all.reduce((sum, { calls }) => sum + calls, 0)

/**
 * What most of it was: calls, connections or bytes.
 * @param {{ role: RoleTotals, opened: number, bytes: number }} found
 * @param {{ name: string, calls: number, usec: number }[]} calls
 */
const namedBy = ({ role, opened, bytes }, calls) => {
  /** @type {(readonly [string, number, number, number])[]} */
  const kinds = [
    [connecting, opened, opened * connectS, opened],
    [network, bytes, bytes * byteS, bytes],
    ...calls.map((one) => exactly([one.name, one.calls, sumOf(calls), countOf(calls)])),
  ]
  const [[command, n, , all]] = kinds.toSorted(([, a, aS], [, b, bS]) => bS - aS || b - a)
  return { command, calls: Math.round(n), calls_per_s: all / Math.max(1, role.overS) }
}

/** What else worked there, in a few words: '1,500 GET/s'. @param {Pick<Others, 'command' | 'calls_per_s'>} others */
export const othersText = ({ command, calls_per_s: hz }) => {
  if (command === connecting) return `${rate(hz)} new connections/s`
  if (command === network) return `${bytes(hz)}/s of other traffic`
  return `${rate(hz)} ${plainText(command).toUpperCase()}/s`
}

/** Calls of the command that counts items, beyond those of the run's writers. @param {{ command: string, calls: number }} foreign @param {Pick<RoleTotals, 'overS'>} masters @returns {Others} */
export const othersBy = ({ command, calls }, { overS }) => {
  const cpuS = calls * callS
  return {
    command,
    calls,
    calls_per_s: calls / Math.max(1, overS),
    on: 'masters',
    cpu_s: cpuS,
    masters_cpu_s: cpuS,
  }
}
