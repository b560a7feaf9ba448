// A matrix on disk: what is fixed, a line for each turn as it ends, and experiment.json with the results so far.
import { appendFile, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { errorOf, OptionError } from '../base/errors.js'
import { ownerWords, takeOwnership } from '../base/lock.js'
import { keysOf } from '../base/typed.js'
import { madeWithParents, ResultsError, runName } from '../result/files.js'
import { linesOf } from './programs.js'

/**
 * @import { ExperimentDocument } from '../result/experiment-document.js'
 * @import { Experiment } from './schema.js'
 * @import { TurnResult } from './summary.js'
 *
 * @typedef {object} Fixed what must be the same for a matrix to go on
 * @property {Experiment} experiment
 * @property {number} scale
 * @property {number} seconds
 * @property {number} warmUpS
 * @property {number} repeat
 * @property {number} seed
 * @property {string} target in words, without secrets
 */

const attempts = 1000

/** @param {string} path @returns {Promise<any>} null: missing or incomplete */
const jsonIn = async (path) => {
  try {
    return JSON.parse(await readFile(path, 'utf8'))
  } catch {
    return null
  }
}

/** Leaves the old file or a whole new one. @param {string} path @param {object} data */
const write = (path, data) =>
  stored(path, async () => {
    await writeFile(`${path}.part`, `${JSON.stringify(data, null, 2)}\n`)
    await rename(`${path}.part`, path)
  })

/** @param {string} path @param {() => Promise<void>} work */
const stored = (path, work) =>
  work().catch((cause) => {
    throw new ResultsError(path, cause)
  })

/** @param {string} outDir @param {Fixed} fixed @param {number} epochMs */
const newFolder = async (outDir, { experiment }, epochMs) => {
  try {
    await madeWithParents(outDir)
    for (let attempt = 1; attempt <= attempts; attempt++) {
      const folder = join(outDir, runName(epochMs, experiment.id, attempt))
      const made = await mkdir(folder).then(
        () => true,
        (error) => {
          if (error.code === 'EEXIST') return false
          throw error
        },
      )
      if (made) return folder
    }
  } catch (cause) {
    const { code } = errorOf(cause)
    throw new OptionError(`--out ${outDir}: the folder cannot be written (${code})`, { cause })
  }
  throw new OptionError(`--out ${outDir}: ${attempts} matrices were started in this second; try again`)
}

/** The first value that differs; null: all the same. @param {Fixed} a @param {Fixed} b */
const difference = (a, b) => {
  const names = keysOf(b)
  return names.find((name) => JSON.stringify(a[name]) !== JSON.stringify(b[name])) ?? null
}

/**
 * The newest matrix with the same fixed values, whether it was stopped or came to its end.
 * @param {string} outDir
 * @param {Fixed} fixed
 */
const begun = async (outDir, fixed) => {
  const names = await readdir(outDir).catch(() => /** @type {string[]} */ ([]))
  const own = names
    .filter((name) => name.includes(`-${fixed.experiment.id}`))
    .sort()
    .reverse()
  let another = ''
  for (const name of own) {
    const folder = join(outDir, name)
    const found = await jsonIn(join(folder, 'matrix.json'))
    if (found?.experiment?.id !== fixed.experiment.id) continue
    const other = difference(found, fixed)
    if (!other) return folder
    if (!found.finished && !another)
      another = `${folder} was begun with another ${other === 'experiment' ? 'definition' : other}`
  }
  if (another) throw new OptionError(`--resume: ${another}; give the same, or leave out --resume`)
  return null
}

/**
 * @param {object} where
 * @param {string} where.outDir
 * @param {Fixed} where.fixed
 * @param {boolean} where.resume
 * @param {number} where.epochMs
 * @param {string} [where.documentName] of the file with the results
 */
export const openMatrix = async ({ outDir, fixed, resume, epochMs, documentName = 'experiment.json' }) => {
  const before = resume ? await begun(outDir, fixed) : null
  const folder = before ?? (await newFolder(outDir, fixed, epochMs))
  const lock = join(folder, 'matrix.lock')
  if (!takeOwnership(lock))
    throw new OptionError(
      `--resume: ${ownerWords(lock)} is still running ${folder}; wait for its end, or leave out --resume`,
    )
  const matrixFile = join(folder, 'matrix.json')
  const turnsFile = join(folder, 'turns.ndjson')
  const matrix = before ? await jsonIn(matrixFile) : null
  const started = matrix?.started ?? new Date(epochMs).toISOString()
  if (!before) await write(matrixFile, { ...fixed, started, finished: false })
  /** @type {TurnResult[]} */
  const turns = await linesOf(turnsFile)
  const earlier = before ? await jsonIn(join(folder, documentName)) : null
  // An incomplete last line is removed, since others follow it.
  await writeFile(turnsFile, turns.map((turn) => `${JSON.stringify(turn)}\n`).join(''))
  return {
    folder,
    resumed: before !== null,
    /** null: unfinished. @type {ExperimentDocument | null} */
    result: matrix?.finished ? earlier : null,
    /** Time of earlier sittings. */
    spentS: Number(earlier?.duration_s ?? 0),
    started,
    turns,
    /** @param {string} cell @param {number} round */
    folderOf: (cell, round) => join(folder, 'cells', cell, `round-${round}`),
    /** Deletes the files of an earlier attempt. @param {string} cell @param {number} round */
    clear: (cell, round) =>
      rm(join(folder, 'cells', cell, `round-${round}`), { recursive: true, force: true }),
    /** @param {TurnResult} turn */
    async add(turn) {
      turns.push(turn)
      await stored(turnsFile, () => appendFile(turnsFile, `${JSON.stringify(turn)}\n`))
    },
    /** @param {object} document */
    tell: (document) => write(join(folder, documentName), document),
    finish: () => write(matrixFile, { ...fixed, started, finished: true }),
    /** Lets another program continue. */
    close: () => rm(lock, { force: true }),
  }
}
