// Breaks the transport and the ledger on purpose, one line at a time, and reports whether a fast test fails:
// node scripts/mutations.js [number...]. Ends with 1 when a mutation survives.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { mutations } from './mutations/list.js'

const projectFolder = fileURLToPath(new URL('..', import.meta.url))
const copied = [
  '.github',
  'charts',
  'docs',
  'lib',
  'lua',
  'scripts',
  'test',
  'producer.js',
  'consumer.js',
  'settings.js',
].concat(['package.json', 'README.md', 'LICENSE', 'CHANGELOG.md'])
// Of processor time, so that a busy machine changes nothing. All seeds take 8.
const limitS = 60
const quickSeeds = { socket: '1-100', clients: '1-50', bundles: '1-70' } // those of `npm test`

/**
 * Whether the command fails in the folder; one that does not end has failed too.
 * @param {string} folder
 * @param {string[]} args
 */
const fails = (folder, args) => {
  const { status } = spawnSync(
    'sh',
    ['-c', `ulimit -t ${limitS}; exec "$0" "$@"`, process.execPath, ...args],
    {
      cwd: folder,
      stdio: 'ignore',
    },
  )
  return status !== 0
}

/** @param {string} name in test/unit, or with its folder */
const unitTest = (name) => ['--test', join('test', name.includes('/') ? '' : 'unit', `${name}.test.js`)]
/** @param {string} driver @param {string} seeds */
const simulation = (driver, seeds) => [
  join('scripts', 'simulate.js'),
  ...['--driver', driver, '--first', '--seed', seeds],
]

/** Tests that fail without a mutation, and so would find every one. @param {string} folder @param {typeof mutations} played */
const failingAnyway = (folder, played) => {
  const units = [...new Set(played.flatMap(({ unit }) => unit))]
  const simulated = new Set(played.map((mutation) => mutation.simulated ?? 'socket'))
  const runs = [
    ...units.map(unitTest),
    ...Object.entries(quickSeeds)
      .filter(([driver]) => simulated.has(/** @type {'socket'} */ (driver)))
      .map(([driver, seeds]) => simulation(driver, seeds)),
  ]
  return runs.filter((args) => fails(folder, args)).map((args) => args.join(' '))
}

/** @param {string} folder @param {typeof mutations[number]} mutation */
const play = (folder, { file, line, becomes, unit, simulated = 'socket', seeds }) => {
  const path = join(folder, file)
  const text = readFileSync(path, 'utf8')
  const parts = text.split(line)
  if (parts.length !== 2) throw new Error(`${file} has ${JSON.stringify(line)} ${parts.length - 1} times`)
  writeFileSync(path, parts.join(becomes))
  try {
    return {
      unit: unit.some((name) => fails(folder, unitTest(name))),
      simulation:
        simulated !== 'none' && fails(folder, simulation(simulated, seeds ?? quickSeeds[simulated])),
    }
  } finally {
    writeFileSync(path, text)
  }
}

const chosen = process.argv.slice(2).map(Number)
const folder = mkdtempSync(join(tmpdir(), 'millrace-mutations-'))
let survived = 0
try {
  for (const name of copied) cpSync(join(projectFolder, name), join(folder, name), { recursive: true })
  symlinkSync(join(projectFolder, 'node_modules'), join(folder, 'node_modules'))
  const isChosen = (/** @type {number} */ i) => chosen.length === 0 || chosen.includes(i + 1)
  const broken = failingAnyway(
    folder,
    mutations.filter((_, i) => isChosen(i)),
  )
  if (broken.length > 0) throw new Error(`without a mutation: ${broken.join(', ')}`)
  console.log(' n  unit  simulation  file           breaks')
  for (const [i, mutation] of mutations.entries()) {
    if (!isChosen(i)) continue
    const found = play(folder, mutation)
    const isFound = found.unit || found.simulation
    if (!isFound) survived++
    const mark = (/** @type {boolean} */ by) => (by ? 'found' : '-')
    const cells = [String(i + 1).padStart(2), mark(found.unit).padEnd(5), mark(found.simulation).padEnd(11)]
    console.log(
      `${cells.join(' ')} ${basename(mutation.file).padEnd(14)} ${mutation.breaks}${isFound ? '' : '  SURVIVED'}`,
    )
  }
  const played = chosen.length || mutations.length
  console.log(`${played} mutations, ${survived} survived`)
  if (survived > 0) process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
