// Everything that is made of recorded runs, for a comparison of two versions of the code:
//   node scripts/golden.js OUT RUN...   writes it to the folder OUT: run.json made again, report, CSV, charts, Prometheus,
//                                       the live page's state, and the middle of the run as a window; RUN is a folder
//   node scripts/golden.js A B          prints what differs between two such folders; numbers to five digits
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { stateOf } from '../lib/dashboard/state.js'
import { metricsOf } from '../lib/report/metrics.js'
import { allFiles } from '../lib/report/write-report.js'
import { readRecord, remadeIn } from '../lib/result/record.js'
import { windowOf } from '../lib/result/window.js'

const mostShown = 100

/** @param {string} folder of a run @returns {Promise<Record<string, any>>} contents by name */
const madeOf = async (folder) => {
  const copy = join(mkdtempSync(join(tmpdir(), 'millrace-golden-')), basename(folder))
  cpSync(folder, copy, { recursive: true })
  const document = JSON.parse(readFileSync(join(copy, 'run.json'), 'utf8'))
  await remadeIn(copy)
  const again = JSON.parse(readFileSync(join(copy, 'run.json'), 'utf8'))
  writeFileSync(join(copy, 'run.json'), JSON.stringify(document))
  const texts = readFileSync(join(copy, 'intervals.ndjson'), 'utf8').split('\n').filter(Boolean)
  const lines = texts.map((text) => JSON.parse(text))
  const files = Object.entries(await allFiles(await readRecord(copy)))
  rmSync(copy, { recursive: true })
  const { run, kind, rate, started } = document
  const prometheus = metricsOf({ run, kind, nominal: rate?.nominal ?? null })
  const live = stateOf()
  for (const line of lines) {
    prometheus.take(line)
    live.second(line)
  }
  const startMs = Date.parse(started)
  const middle = { fromMs: startMs + 500, toMs: startMs + lines.at(-1).at_ms - 500 }
  return {
    'run.json': again,
    ...Object.fromEntries(files.filter(([name]) => /\.(txt|md|csv|svg)$/.test(name))),
    'metrics.prom': await prometheus.registry.metrics(),
    'live.json': live.all(),
    ...(document.items && { 'window.json': windowOf([{ document, lines }], middle)?.document ?? null }),
  }
}

/** @param {any} a @param {any} b @param {string} path @returns {string[]} */
const differences = (a, b, path) => {
  if (a && b && typeof a === 'object' && typeof b === 'object')
    return [...new Set([...Object.keys(a), ...Object.keys(b)])].flatMap((key) =>
      differences(a[key], b[key], `${path} ${key}`),
    )
  const isNear = typeof a === 'number' && typeof b === 'number' && Math.abs(a - b) <= 1e-5 * Math.abs(a)
  return a === b || isNear ? [] : [`${path}: ${JSON.stringify(a)} -> ${JSON.stringify(b)}`]
}

/** @param {string} path */
const contentOf = (path) => {
  if (!existsSync(path)) return undefined
  const text = readFileSync(path, 'utf8')
  return path.endsWith('.json') ? JSON.parse(text) : text.split('\n')
}

const [first, ...rest] = process.argv.slice(2)
if (rest.length === 1 && !existsSync(join(rest[0], 'run.json'))) {
  const names = new Set([...readdirSync(first), ...readdirSync(rest[0])])
  const found = [...names].flatMap((name) =>
    differences(contentOf(join(first, name)), contentOf(join(rest[0], name)), name),
  )
  process.stdout.write([...found.slice(0, mostShown), `${found.length} differences\n`].join('\n'))
  process.exitCode = found.length > 0 ? 1 : 0
} else {
  mkdirSync(first, { recursive: true })
  for (const folder of rest)
    for (const [name, content] of Object.entries(await madeOf(folder)))
      writeFileSync(
        join(first, `${basename(folder)}-${name.replaceAll('/', '-')}`),
        name.endsWith('.json') ? JSON.stringify(content, null, 1) : content,
      )
}
