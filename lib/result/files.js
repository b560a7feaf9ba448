// The results folder: made before the run with all its files open, filled line by line, finished by run.json.
import { existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { mkdir, open, readdir, rename, rm, rmdir, stat, statfs, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { errorOf, MillraceError, OptionError } from '../base/errors.js'
import { faultIn } from '../base/json-schema.js'
import { ownedContent, ownerWords, takeOwnership } from '../base/lock.js'
import { exactly } from '../base/typed.js'
import { bytes, plainData, plainText } from '../base/units.js'

/**
 * @import { FileHandle } from 'node:fs/promises'
 * @import { Warning } from '../measures/warnings.js'
 * @import { Facts } from './facts.js'
 */

const safeName = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/
const attempts = 1000
// An hour of a cluster of twelve nodes leaves less.
const leastFreeBytes = 20e6
const lockName = 'run.lock'
const unfinishedName = 'run.json.part'
const factsName = 'facts.json'
const FACTS = {
  type: 'object',
  required: ['schema', 'parts', 'thresholds', 'sums'],
  properties: {
    schema: { const: 1 },
    parts: {
      type: 'object',
      required: ['kind', 'run', 'plan', 'warnings', 'versions'],
      properties: {
        kind: { enum: ['producer', 'consumer'] },
        run: { type: 'string' },
        plan: { type: 'object' },
        versions: { type: 'object' },
        warnings: { type: 'array', items: { type: 'object', required: ['code', 'message'] } },
      },
    },
    thresholds: { type: 'array', items: { type: 'string' } },
    sums: { type: ['object', 'null'] },
  },
}
const lineNames = exactly(['intervals.ndjson', 'events.ndjson'])
// The files that a start without a run leaves; killed while it locks, it leaves a draft of the lock as well.
const ofStart = [lockName, unfinishedName, factsName, ...lineNames]
const isOfStart = (/** @type {string} */ name) => ofStart.includes(name) || name.startsWith(`${lockName}.`)
// The lines that a box of a fleet has for the others.
const sharedName = 'fleet.ndjson'

/** @param {unknown} error */
export const codeOf = (error) => errorOf(error).code ?? String(error)

/** The error for a result that could not be stored completely. */
export class ResultsError extends MillraceError {
  /** @param {string} where @param {unknown} cause */
  constructor(where, cause) {
    super(
      'RESULTS',
      `${where} cannot be written (${codeOf(cause)}): the stored result is not complete; free the disk or set --out`,
      { cause },
    )
  }
}

/**
 * 2026-11-21T07-30-05-sorted-set, and -2 and so on behind it when that name is taken.
 * @param {number} epochMs
 * @param {string} strategy
 * @param {number} [attempt]
 */
export const runName = (epochMs, strategy, attempt = 1) => {
  const moment = new Date(epochMs).toISOString().slice(0, 19).replaceAll(':', '-')
  return `${moment}-${strategy}${attempt > 1 ? `-${attempt}` : ''}`
}

/**
 * Node's own recursive mkdir never returns where a parent refuses with ENOENT, as /proc does (seen on Node 20).
 * @param {string} folder
 * @returns {Promise<void>}
 */
export const madeWithParents = async (folder) => {
  const code = await mkdir(folder).then(() => '', codeOf)
  if (code === 'EEXIST' || code === '') return
  if (code === 'ENOENT' && dirname(folder) !== folder) await madeWithParents(dirname(folder))
  await mkdir(folder).catch((error) => {
    if (codeOf(error) !== 'EEXIST') throw error
  })
}

/** The folder of a result, made before there is one, so that a bad --out is known early. @param {string} folder */
export const outFolder = (folder) =>
  madeWithParents(folder).catch((cause) => {
    throw new OptionError(`--out ${folder}: the folder cannot be written (${codeOf(cause)})`, { cause })
  })

/**
 * Makes a result in a folder, which is removed again if the work ends with an error and has stored nothing.
 * @template T
 * @param {string} folder
 * @param {() => Promise<T>} work
 */
export const intoOutFolder = async (folder, work) => {
  await outFolder(folder)
  try {
    return await work()
  } catch (error) {
    await rmdir(folder).catch(() => {})
    throw error
  }
}

/** Whether a run has left a result in the folder, or only its start. @param {string} folder */
const holdsResults = async (folder) => {
  const names = await readdir(folder)
  if (names.some((name) => !isOfStart(name) && name !== sharedName)) return true
  return [...lineNames, sharedName].some(
    (name) => names.includes(name) && statSync(join(folder, name)).size > 0,
  )
}

/**
 * The folder of a name that was typed, for this process alone; one that a start has left is taken over.
 * @param {string} outDir
 * @param {string} run
 */
const takenFolder = async (outDir, run) => {
  const folder = join(outDir, run)
  const isNew = await mkdir(folder).then(
    () => true,
    (error) => {
      if (codeOf(error) !== 'EEXIST') throw error
      return false
    },
  )
  const lock = join(folder, lockName)
  if (!isNew && (!(await stat(folder)).isDirectory() || (await holdsResults(folder))))
    throw new OptionError(`--run ${run}: results of that name exist in ${outDir}`)
  if (!takeOwnership(lock))
    throw new OptionError(`--run ${run}: ${ownerWords(lock)} is writing results of that name in ${outDir}`)
}

/**
 * Makes the folder of the run; a name that was not typed is counted up until it is free.
 * @param {{ outDir: string, run?: string, epochMs: number, strategy: string }} where
 */
const madeFolder = async ({ outDir, run, epochMs, strategy }) => {
  if (run !== undefined && !safeName.test(run))
    throw new OptionError(
      '--run: letters, digits, dots, dashes and underscores, beginning with a letter or digit',
    )
  await madeWithParents(outDir)
  // A file system that does not report its free space is taken to have enough.
  const { bavail, bsize } = await statfs(outDir).catch(() => ({ bavail: 1, bsize: leastFreeBytes }))
  if (bavail * bsize < leastFreeBytes)
    throw new OptionError(
      `--out ${outDir}: only ${bytes(bavail * bsize)} are free there, and a run may need ${bytes(leastFreeBytes)}`,
    )
  if (run !== undefined) {
    await takenFolder(outDir, run)
    return run
  }
  for (let attempt = 1; attempt <= attempts; attempt++) {
    const name = runName(epochMs, strategy, attempt)
    try {
      await mkdir(join(outDir, name))
      takeOwnership(join(outDir, name, lockName))
      return name
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error
    }
  }
  throw new OptionError(`--run: ${attempts} runs of this second exist in ${outDir}; name this one`)
}

/** Appends lines of JSON; no write is waited for. @param {FileHandle} file @param {(error: unknown) => void} onFailure */
const lineFile = (file, onFailure) => {
  const stream = file.createWriteStream().on('error', onFailure)
  let lines = 0
  return {
    /** @param {object} line */
    append(line) {
      lines++
      if (stream.writable) stream.write(`${JSON.stringify(line)}\n`)
    },
    isEmpty: () => lines === 0,
    /** @returns {Promise<void>} */
    end: () =>
      new Promise((resolve) => {
        if (stream.closed) resolve()
        else stream.once('close', () => resolve()).end()
      }),
  }
}

/** @param {string} folder @param {(error: unknown, path: string) => void} onFailure */
const openFiles = async (folder, onFailure) => {
  const [intervals, events] = await Promise.all(
    lineNames.map(async (name) => {
      const path = join(folder, name)
      return lineFile(await open(path, 'a'), (error) => onFailure(error, path))
    }),
  )
  return { intervals, events, document: await open(join(folder, unfinishedName), 'w') }
}

/** @typedef {Awaited<ReturnType<typeof openResults>>} Results */

/**
 * The run's folder and its files, made now, so that a bad one is known before anything is sent. A disk that fills up
 * later does not end the run: what could not be written is its `fault`.
 * @param {object} options
 * @param {string} options.outDir
 * @param {string} [options.run] as typed; else it is named by time and strategy
 * @param {number} options.epochMs
 * @param {string} options.strategy
 * @param {(warning: Warning) => void} options.onWarning called once at most
 * @param {<T>(data: T) => T} [options.redact] takes secrets out
 */
export const openResults = async ({ outDir, run, epochMs, strategy, onWarning, redact = (data) => data }) => {
  const unwritable = (/** @type {unknown} */ error) =>
    error instanceof OptionError
      ? error
      : new OptionError(`--out ${outDir}: the folder cannot be written (${codeOf(error)})`, { cause: error })
  const name = await madeFolder({ outDir, run, epochMs, strategy }).catch((error) => {
    throw unwritable(error)
  })
  const folder = join(outDir, name)
  /** @type {ResultsError | null} */
  let fault = null
  let isFinished = false
  const failed = (/** @type {unknown} */ error, /** @type {string} */ path) => {
    if (fault) return
    fault = new ResultsError(path, error)
    onWarning({ code: 'results', message: fault.message, invalidates: false })
  }
  const files = await openFiles(folder, failed).catch(async (error) => {
    await removeStart(folder).catch(() => {})
    throw unwritable(error)
  })
  const { intervals, events, document: unfinished } = files
  const end = () => Promise.all([intervals.end(), events.end()])
  return {
    run: name,
    folder,
    interval: (/** @type {object} */ line) => intervals.append(redact(plainData({ run: name, ...line }))),
    event: (/** @type {object} */ line) => events.append(redact(plainData({ run: name, ...line }))),
    /**
     * What the result is made of beside its lines, in the place of what it was before. Those of the end belong to all
     * lines: where some could not be written, those of the beginning stay.
     * @param {object} facts
     */
    facts(facts) {
      if (fault) return
      const path = join(folder, factsName)
      try {
        writeFileSync(`${path}.part`, JSON.stringify(redact(plainData(facts))))
        renameSync(`${path}.part`, path)
      } catch (error) {
        rmSync(`${path}.part`, { force: true })
        failed(error, path)
      }
    },
    /** Settles the line files, so that what they missed can be in the document. */
    end,
    /** Why the stored result is incomplete. */
    fault: () => fault,
    redact,
    /** Writes run.json whole or not at all. @param {object} document without secrets */
    async finish(document) {
      await end()
      const path = join(folder, 'run.json')
      try {
        await unfinished.writeFile(`${JSON.stringify(document, null, 2)}\n`)
        await unfinished.sync()
        await unfinished.close()
        await rename(join(folder, unfinishedName), path)
        isFinished = true
      } catch (error) {
        failed(error, path)
      }
    },
    /** Removes files that are not part of a result: after an early failure the whole folder, if no line was written. */
    async discard() {
      await end()
      await unfinished.close().catch(() => {})
      if (!isFinished && intervals.isEmpty() && events.isEmpty()) await removeStart(folder)
      else for (const file of [lockName, unfinishedName]) await rm(join(folder, file), { force: true })
    },
  }
}

/** @param {string} path @returns {any} */
const factsIn = (path) => {
  /** @type {any} */
  let found = null
  try {
    found = JSON.parse(readFileSync(path, 'utf8'))
  } catch (cause) {
    throw new OptionError(`${path} is not JSON (${codeOf(cause)}): was it written to the end?`, { cause })
  }
  return found
}

/**
 * Writes run.json of a folder again, from its facts and its seconds.
 * @param {string} folder
 * @param {(facts: Facts) => Promise<object>} documentOf
 * @returns {Promise<boolean>} false: there are no facts, or those of its beginning beside a result that knows more
 */
export const writtenAgain = async (folder, documentOf) => {
  const [facts, path, lock] = [factsName, 'run.json', lockName].map((name) => join(folder, name))
  if (!existsSync(facts)) return false
  if (ownedContent(lock) !== null)
    throw new OptionError(`${folder}: ${ownerWords(lock)} is writing this result; wait for its end`)
  const known = factsIn(facts)
  if (known?.sums === null && existsSync(path)) return false
  const wrong = faultIn(known, FACTS)
  if (wrong) throw new OptionError(`${facts} is not the facts of a run: ${wrong}`)
  const document = await documentOf(known).catch((cause) => {
    if (cause instanceof MillraceError) throw cause
    throw new OptionError(
      `${folder}: facts.json and the lines beside it do not fit together (${plainText(String(cause.message)).slice(0, 100)}); were they changed?`,
      { cause },
    )
  })
  try {
    await writeFile(`${path}.part`, `${JSON.stringify(document, null, 2)}\n`, { flush: true })
    await rename(`${path}.part`, path)
  } catch (error) {
    throw new ResultsError(path, error)
  }
  return true
}

/**
 * What is known of a run whose folder has no result.
 * @param {string} folder
 * @returns {Promise<string | null>} null: it is not the folder of a run
 */
export const unfinishedWords = async (folder) => {
  const names = await readdir(folder).catch(() => /** @type {string[]} */ ([]))
  if (names.includes(factsName))
    return 'the run was killed; `millrace report` with this folder makes its result'
  if (!names.some(isOfStart)) return null
  const lock = join(folder, lockName)
  if (ownedContent(lock) !== null) return `${ownerWords(lock)} is writing this result; wait for its end`
  const first = statSync(join(folder, names.includes(lineNames[0]) ? lineNames[0] : names[0]))
  const began = new Date(first.birthtimeMs || first.mtimeMs).toISOString().slice(0, 19)
  return (await holdsResults(folder))
    ? `what began at ${began}Z was killed, and left its seconds but no facts.json: no result can be made of them`
    : `the run that began at ${began}Z was killed in its set-up: it had stored nothing`
}

/** @param {string} folder that holds no result */
const removeStart = async (folder) => {
  for (const name of ofStart) await rm(join(folder, name), { force: true })
  await rmdir(folder).catch((error) => {
    if (!['ENOTEMPTY', 'EEXIST', 'ENOENT'].includes(codeOf(error))) throw error
  })
}
