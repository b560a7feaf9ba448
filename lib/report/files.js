// The results folder: made before the run, filled line by line, finished by run.json.
import { createWriteStream } from 'node:fs'
import { mkdir, rename, rm, rmdir, statfs, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { OptionError } from '../errors.js'
import { bytes, plainData } from './units.js'

const safeName = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/
const attempts = 1000
// An hour of a cluster of twelve nodes leaves less.
const leastFreeBytes = 20e6

/** @param {unknown} error */
const codeOf = (error) => /** @type {NodeJS.ErrnoException} */ (error).code ?? String(error)

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

/**
 * Makes the folder of the run; a name that was not typed is counted up until it is free.
 * @param {{ outDir: string, run?: string, epochMs: number, strategy: string }} where
 */
const madeFolder = async ({ outDir, run, epochMs, strategy }) => {
  if (run !== undefined && !safeName.test(run))
    throw new OptionError(
      '--run: letters, digits, dots, dashes and underscores, beginning with a letter or digit',
    )
  const unwritable = (/** @type {unknown} */ error) =>
    new OptionError(`--out ${outDir}: the folder cannot be written (${codeOf(error)})`, { cause: error })
  await madeWithParents(outDir).catch((error) => {
    throw unwritable(error)
  })
  // A file system that does not tell is believed to have room.
  const { bavail, bsize } = await statfs(outDir).catch(() => ({ bavail: 1, bsize: leastFreeBytes }))
  if (bavail * bsize < leastFreeBytes)
    throw new OptionError(
      `--out ${outDir}: only ${bytes(bavail * bsize)} are free there, and a run may need ${bytes(leastFreeBytes)}`,
    )
  for (let attempt = 1; attempt <= attempts; attempt++) {
    const name = run ?? runName(epochMs, strategy, attempt)
    try {
      await mkdir(join(outDir, name))
      return name
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw unwritable(error)
      if (run !== undefined) throw new OptionError(`--run ${run}: results of that name exist in ${outDir}`)
    }
  }
  throw new OptionError(`--run: ${attempts} runs of this second exist in ${outDir}; name this one`)
}

/**
 * Lines of JSON behind each other; the file begins with the first line, and no write is waited for.
 * @param {string} path
 * @param {(error: unknown) => void} onFailure
 */
const lineFile = (path, onFailure) => {
  /** @type {import('node:fs').WriteStream | null} */
  let stream = null
  return {
    append(/** @type {object} */ line) {
      stream ??= createWriteStream(path, { flags: 'a' }).on('error', onFailure)
      if (stream.writable) stream.write(`${JSON.stringify(plainData(line))}\n`)
    },
    /** @returns {Promise<void>} */
    end: () =>
      new Promise((resolve) => {
        if (!stream || stream.closed) resolve()
        else stream.once('close', () => resolve()).end()
      }),
  }
}

/** @typedef {Awaited<ReturnType<typeof openResults>>} Results */

/**
 * The run's folder, made now, so that a bad one is known before anything is sent. A disk that fills up later
 * costs a warning and never the run.
 * @param {object} options
 * @param {string} options.outDir
 * @param {string} [options.run] as typed; else it is named by time and strategy
 * @param {number} options.epochMs
 * @param {string} options.strategy
 * @param {(warning: import('./verdict.js').Warning) => void} options.onWarning called once at most
 */
export const openResults = async ({ outDir, run, epochMs, strategy, onWarning }) => {
  const name = await madeFolder({ outDir, run, epochMs, strategy })
  const folder = join(outDir, name)
  let failed = false
  const failure = (/** @type {unknown} */ error) => {
    if (failed) return
    failed = true
    onWarning({
      code: 'results',
      message: `the results in ${folder} are not complete (${codeOf(error)}); free the disk or set --out`,
      invalidates: false,
    })
  }
  const intervals = lineFile(join(folder, 'intervals.ndjson'), failure)
  const events = lineFile(join(folder, 'events.ndjson'), failure)
  const end = () => Promise.all([intervals.end(), events.end()])
  return {
    run: name,
    folder,
    interval: intervals.append,
    event: events.append,
    /** Settles the line files, so that what they missed can stand in the document. */
    end,
    /**
     * Writes run.json whole or not at all.
     * @param {object} document
     * @returns {Promise<boolean>} whether it stands
     */
    async finish(document) {
      await end()
      const path = join(folder, 'run.json')
      const unfinished = `${path}.part`
      try {
        await writeFile(unfinished, `${JSON.stringify(document, null, 2)}\n`, { flush: true })
        await rename(unfinished, path)
        return true
      } catch (error) {
        await rm(unfinished, { force: true }).catch(failure)
        failure(error)
        return false
      }
    },
    /** After an early failure: an empty folder goes, one with lines stays. */
    async discard() {
      await end()
      await rmdir(folder).catch((error) => {
        if (!['ENOTEMPTY', 'EEXIST'].includes(codeOf(error))) failure(error)
      })
    },
  }
}
