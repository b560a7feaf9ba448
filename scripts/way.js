// The files of lib that an item, a number of a second and a job enter, recorded from runs on a local server by the counters
// of calls of the engine. Prints the table; --write puts it into CONTRIBUTING.md.

import { readFileSync, writeFileSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import { dirname, join, relative, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { run, startLocalServers } from '../lib/index.js'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const lib = pathToFileURL(join(root, 'lib/')).href
const page = join(root, 'CONTRIBUTING.md')

const ticks = 50
const jobsHz = 400
const seconds = 2

/** Most calls of one function of each file since the last question. @param {Session} session */
const callsSince = async (session) => {
  const { result } = await session.post('Profiler.takePreciseCoverage')
  const named = result.filter(({ url }) => url.startsWith(lib))
  return new Map(
    named.map(({ url, functions }) => [
      relative(root, fileURLToPath(url)).replaceAll(sep, '/'),
      Math.max(
        0,
        ...functions.filter(({ functionName }) => functionName).map(({ ranges }) => ranges[0].count),
      ),
    ]),
  )
}

/** Calls of two seconds in the middle of a run. @param {Record<string, unknown>} options @param {() => Promise<unknown>} [beside] another run */
const callsIn = async (options, beside = async () => {}) => {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  let shown = 0
  /** @type {Promise<Map<string, number>>[]} */
  const taken = []
  const onProgress = (/** @type {{ type: string }} */ { type }) => {
    if (type !== 'second') return
    shown++
    if (shown === 1 || shown === 1 + seconds) taken.push(callsSince(session))
  }
  try {
    const [, other] = await Promise.all([run(options, { onProgress }), beside()])
    const [, calls] = await Promise.all(taken)
    return { calls, other }
  } finally {
    session.disconnect()
  }
}

/** @param {Map<string, number>} calls @param {(n: number) => boolean} isAny */
const filesWith = (calls, isAny) =>
  [...calls]
    .filter(([, n]) => isAny(n))
    .map(([file]) => file)
    .sort()

const short = { duration: '4s', idleCost: 'never', quantity: 200 }

/** Of items in ticks and of what is written once a second. @param {{ url: string }} at */
const waysOfItems = async (at) => {
  const { calls } = await callsIn({ ...at, ...short, strategy: 'sorted-set', period: `${1000 / ticks}ms` })
  return {
    item: filesWith(calls, (n) => n >= (seconds * ticks) / 2),
    number: filesWith(calls, (n) => n > 0 && n < (seconds * ticks) / 2),
    calls,
  }
}

/** Of jobs that are put into a queue and taken from it. @param {{ url: string }} at */
const wayOfJob = async (at) => {
  const working = () => run({ command: 'read', ...at, duration: '4s' })
  const { calls } = await callsIn({ ...at, ...short, strategy: 'queue-list', quantity: jobsHz }, working)
  return { job: filesWith(calls, (n) => n >= (seconds * jobsHz) / 2), calls }
}

/** Files by folder. @param {readonly string[]} files */
const grouped = (files) => {
  const folders = [...new Set(files.map((file) => dirname(file)))]
  return folders
    .map(
      (folder) =>
        `\`${folder}\`: ${files
          .filter((file) => dirname(file) === folder)
          .map((file) => file.slice(folder.length + 1, -'.js'.length))
          .join(', ')}`,
    )
    .join('; ')
}

/** Their table. @param {{ item: readonly string[], number: readonly string[], job: readonly string[] }} ways */
export const wayTable = ({ item, number, job }) =>
  [
    '| | files |',
    '| --- | --- |',
    `| an item, each tick (${item.length}) | ${grouped(item)} |`,
    `| a number, each second (${number.length}) | ${grouped(number)} |`,
    `| a job, put and taken (${job.length}) | ${grouped(job)} |`,
  ].join('\n')

/** The files of a row of that table. @param {string} text @param {string} what */
export const filesOfWay = (text, what) => {
  const [, cell = ''] = new RegExp(`^\\| ${what}.*?\\) \\| (.*) \\|$`, 'm').exec(text) ?? []
  return cell.split('; ').flatMap((part) => {
    const [, folder = '', names = ''] = /^`(.*)`: (.*)$/.exec(part) ?? []
    return names.split(', ').map((name) => `${folder}/${name}.js`)
  })
}

export const recordedWays = async () => {
  const servers = await startLocalServers()
  try {
    const ways = await waysOfItems(servers.options)
    const { job, calls } = await wayOfJob(servers.options)
    return {
      ...ways,
      job,
      callsOf: { item: ways.calls, job: calls },
      most: { item: seconds * ticks, job: seconds * jobsHz },
    }
  } finally {
    await servers.close()
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const table = wayTable(await recordedWays())
  if (process.argv.includes('--write')) {
    const [start, end] = ['<!-- way:start -->', '<!-- way:end -->']
    const text = readFileSync(page, 'utf8')
    const before = text.slice(0, text.indexOf(start) + start.length)
    writeFileSync(page, `${before}\n\n${table}\n\n${text.slice(text.indexOf(end))}`)
  } else process.stdout.write(`${table}\n`)
}
