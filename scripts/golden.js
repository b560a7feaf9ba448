// Everything that is made of recorded results, for a comparison of two versions of the code:
//   node scripts/golden.js OUT FOLDER...  writes it to the folder OUT: of a run run.json made again, report, CSV, charts,
//                                         Prometheus, the live page's state, and the middle of the run as a window; of an
//                                         experiment, a comparison, a search, a choice or another answer its text, page and
//                                         charts; and what commands print that need no run: help, metrics, plans, differences
//                                         of the runs. A fleet is the folder of the box that led
//   node scripts/golden.js A B            prints what differs between two such folders; numbers to five digits

import { execFile } from 'node:child_process'
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
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { answers } from '../lib/answers/index.js'
import { faultIn } from '../lib/base/json-schema.js'
import { commands } from '../lib/cli/commands.js'
import { stateOf } from '../lib/dashboard/state.js'
import { metricsOf } from '../lib/report/metrics.js'
import { allFiles } from '../lib/report/write-report.js'
import { readRecord, remadeIn } from '../lib/result/record.js'
import { windowOf } from '../lib/result/window.js'

const mostShown = 100

const program = fileURLToPath(new URL('../lib/cli/millrace.js', import.meta.url))
const isShown = (/** @type {string} */ name) => /\.(txt|md|csv|svg|html)$/.test(name)

/** What a command prints, with its exit code. @param {readonly string[]} argv */
const printed = (argv) =>
  promisify(execFile)(process.execPath, [program, ...argv], {
    env: { PATH: process.env.PATH, MILLRACE_NO_DOTENV: '1' },
    maxBuffer: 1e8,
  }).then(
    ({ stdout, stderr }) => `${stdout}${stderr}`,
    ({ code, stdout, stderr }) => `${stdout}${stderr}exit ${code}\n`,
  )

/** Without what a page has of its own scripts and of the moment. @param {Record<string, string | Buffer>} files */
const shownOf = (files) =>
  Object.fromEntries(
    Object.entries(files).flatMap(([name, text]) =>
      isShown(name)
        ? [[name, String(text).replace(/<script type="(module|application\/octet).*?<\/script>/gs, '')]]
        : [],
    ),
  )

/** Commands that need no server: their words by the name of what they print. @param {readonly string[]} runs @param {readonly string[]} calibrations */
const linesOf = (runs, calibrations) => ({
  ...Object.fromEntries(
    Object.keys(commands).map((name) => [`help-${name}`, [...name.split(' '), '--help', 'all']]),
  ),
  ...{
    help: ['--help'],
    'help-json': ['help', '--json'],
    metrics: ['metrics'],
    completion: ['completion', 'bash'],
  },
  experiments: ['experiment', 'list'],
  staff: ['plan', 'staff', '--nodes', '9', '--load', 'mean=12GB,sd=2GB'],
  'staff-json': ['plan', 'staff', '--nodes', '9', '--load', 'mean=12GB,sd=2GB', '--json'],
  ...Object.fromEntries(runs.map((run) => [`staff-${basename(run)}`, ['plan', 'staff', '--from', run]])),
  ...Object.fromEntries(
    runs.slice(1).map((run) => [`diff-${basename(run)}`, ['diff', runs[0], run, '--verbose', '--invalid']]),
  ),
  ...Object.fromEntries(
    calibrations.flatMap((folder) => [
      [
        `plan-${basename(folder)}`,
        ['plan', '--rate', '300k', '--value-size', '200B', '--growth', '5%/month', '--calibration', folder],
      ],
      [`plan-json-${basename(folder)}`, ['plan', '--rate', '300k', '--calibration', folder, '--json']],
    ]),
  ),
})

/** Answers of their own JSON, and the differences between the sides of a comparison. @param {string} folder @returns {Promise<Record<string, any>>} */
const answerOf = async (folder) => {
  if (existsSync(join(folder, 'experiment.json'))) return shownOf(await allFiles(await readRecord(folder)))
  /** @type {Record<string, any>} */
  const made = {}
  for (const { file, schema, text, files } of answers) {
    const path = join(folder, `${file}.json`)
    const one = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : null
    if (one !== null && faultIn(one, schema) === null)
      Object.assign(made, { 'answer.txt': text(one), ...shownOf(await files(one)) })
  }
  if (!existsSync(join(folder, 'compare.json'))) return made
  const sides = readdirSync(join(folder, 'cells')).map((name) => join(folder, 'cells', name))
  const json = await printed(['diff', ...sides, '--invalid', '--json'])
  return {
    ...made,
    'diff.txt': await printed(['diff', ...sides, '--verbose', '--invalid']),
    'diff.json': JSON.parse(json.replace(/exit.*/, '')),
  }
}

/** @param {string} folder of a run @returns {Promise<Record<string, any>>} contents by name */
const madeOf = async (folder) => {
  if (!existsSync(join(folder, 'run.json'))) return answerOf(folder)
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

const longest = 160
const short = (/** @type {unknown} */ value) => String(JSON.stringify(value)).slice(0, longest)

/** @param {any} a @param {any} b @param {string} path @returns {string[]} */
const differences = (a, b, path) => {
  if (a && b && typeof a === 'object' && typeof b === 'object')
    return [...new Set([...Object.keys(a), ...Object.keys(b)])].flatMap((key) =>
      differences(a[key], b[key], `${path} ${key}`),
    )
  const isNear = typeof a === 'number' && typeof b === 'number' && Math.abs(a - b) <= 1e-5 * Math.abs(a)
  return a === b || isNear ? [] : [`${path}: ${short(a)} -> ${short(b)}`]
}

/** @param {string} path */
const contentOf = (path) => {
  if (!existsSync(path)) return undefined
  const text = readFileSync(path, 'utf8')
  return path.endsWith('.json') ? JSON.parse(text) : text.split('\n')
}

const [first, ...rest] = process.argv.slice(2)
if (rest.length === 1 && existsSync(join(rest[0], 'help.txt'))) {
  const names = new Set([...readdirSync(first), ...readdirSync(rest[0])])
  const found = [...names].flatMap((name) =>
    differences(contentOf(join(first, name)), contentOf(join(rest[0], name)), name),
  )
  process.stdout.write([...found.slice(0, mostShown), `${found.length} differences\n`].join('\n'))
  process.exitCode = found.length > 0 ? 1 : 0
} else {
  mkdirSync(first, { recursive: true })
  /** @param {string} name @param {any} content */
  const keep = (name, content) =>
    writeFileSync(
      join(first, name.replaceAll('/', '-')),
      name.endsWith('.json') ? JSON.stringify(content, null, 1) : content,
    )
  for (const folder of rest)
    for (const [name, content] of Object.entries(await madeOf(folder)))
      keep(`${basename(folder)}-${name}`, content)
  const having = (/** @type {string} */ file) => rest.filter((folder) => existsSync(join(folder, file)))
  for (const [name, argv] of Object.entries(linesOf(having('run.json'), having('calibration.json')))) {
    const text = await printed(argv)
    const isJson = argv.includes('--json') && !/exit \d+\n$/.test(text)
    keep(`${name.replace(' ', '-')}.${isJson ? 'json' : 'txt'}`, isJson ? JSON.parse(text) : text)
  }
}
