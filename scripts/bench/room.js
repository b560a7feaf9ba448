// Shared by the cases of the benchmark: starts programs and prints figures.
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { median } from 'simple-statistics'
import { startChild } from '../../lib/base/child.js'

/**
 * @typedef {{ name: string, limit: string, figure: string, met: boolean | null, full?: boolean }} Row met: null of a
 * control, which has no limit; full: the server was, so that a figure of the client that misses its limit shows nothing
 * @typedef {{ seconds: (n: number) => number, folder: string, env?: Record<string, string | undefined> }} Room seconds:
 * how long what should take n seconds may take; env: where the programs find their target
 * @typedef {object} Case
 * @property {string} name
 * @property {(room: Room) => Promise<Record<string, number>>} round figures of one round
 * @property {(figures: Record<string, number[]>) => Row[]} rows
 * @property {(figures: Record<string, number[]>) => Ratio[]} [ratios] to another tool in the same round: these are the gate's
 *
 * @typedef {{ name: string, better: 'more' | 'less', rounds: number[] }} Ratio
 */

/** @param {Row} row */
export const verdict = ({ met, full }) =>
  met === null ? '' : met ? 'ok' : full ? 'not shown: the server is full' : 'NOT MET'

const program = (/** @type {string} */ name) => fileURLToPath(new URL(`../../${name}`, import.meta.url))

export { median }

/** @param {number} n @param {number} [places] */
export const digits = (n, places = 2) => n.toLocaleString('en', { maximumFractionDigits: places })

/**
 * A program as a user starts it; servers that a producer of the same room runs are found by its consumers.
 * @param {Room} room
 * @param {string} name and a command, where the program has several
 * @param {string[]} args
 */
export const start = (room, name, args) => {
  const [path, ...words] = name.split(' ')
  const child = startChild(
    program(path),
    [...words, '--json', '--log', 'error', '--out', room.folder, ...args],
    {
      env: { PATH: process.env.PATH, MILLRACE_NO_DOTENV: '1', XDG_RUNTIME_DIR: room.folder, ...room.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  let text = ''
  let log = ''
  child.stdout.on('data', (chunk) => {
    text += chunk
  })
  child.stderr.on('data', (chunk) => {
    log += chunk
    process.stderr.write(chunk)
  })
  /** @type {Promise<any>} */
  const ended = new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => {
      if ([0, 4, 98, 130].includes(Number(code))) resolve(JSON.parse(text))
      else reject(new Error(`${name} ${args.join(' ')} ended with ${code}`))
    })
  })
  /** What a program of the benchmark has counted. */
  const counted = () => log
  return { child, ended, counted }
}

const startLimitMs = 30_000

/** CPU seconds of a process, all of its threads. @param {number} pid */
const cpuS = (pid) => {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / 100
}

/**
 * What clients get together, and their CPU an operation, between two moments of their play; they are ended then.
 * @param {() => import('node:child_process').ChildProcess[]} begin
 * @param {{ seconds: number, warmUpMs: number, commands: () => Promise<number> }} how commands: the servers' count
 */
export const playedBy = async (begin, { seconds, warmUpMs, commands }) => {
  const children = begin()
  const over = children.map((child) => new Promise((resolve) => child.once('close', resolve)))
  const cpu = () => children.reduce((sum, { pid }) => sum + cpuS(Number(pid)), 0)
  const sample = async () => ({ n: await commands(), cpuS: cpu(), atMs: performance.now() })
  try {
    const before = await commands()
    for (
      const untilMs = performance.now() + startLimitMs;
      (await commands()) < before + 5000;
      await sleep(20)
    )
      if (performance.now() > untilMs) throw new Error('a client did not begin')
    await sleep(warmUpMs)
    const from = await sample()
    await sleep(seconds * 1000)
    const to = await sample()
    const operations = to.n - from.n
    return {
      opsPerS: (operations * 1000) / (to.atMs - from.atMs),
      cpuUs: ((to.cpuS - from.cpuS) * 1e6) / operations,
    }
  } finally {
    for (const child of children) child.kill()
    await Promise.all(over)
  }
}
