// The folders of a box: one for its own part, and the run's own for the result of all, which boxes of one machine share.
import { existsSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { OptionError } from '../base/errors.js'
import { joinedSeconds } from '../fleet/interval.js'
import { openResults } from '../result/files.js'

/**
 * @import { Results } from '../result/files.js'
 * @import { Warning } from '../measures/warnings.js'
 * @import { Merged } from '../run/run.js'
 * @import { Line } from '../measures/fold.js'
 */

/** spring-test.host-b-4711 @param {{ run?: string, outDir: string }} settings */
export const ownFolder = ({ run, outDir }) => {
  if (existsSync(join(outDir, String(run), 'run.json')))
    throw new OptionError(`--run ${run}: results of that name exist in ${outDir}`)
  const box = `${hostname()
    .replaceAll(/[^\w-]/g, '-')
    .slice(0, 30)}-${process.pid}`
  return { run: `${String(run).slice(0, 60)}.${box}` }
}

/**
 * Writes the seconds of all into the run's folder; of the boxes that share it, one does.
 * @param {{ run?: string, outDir: string, strategy: string }} settings
 * @param {object} needs
 * @param {Merged} needs.all
 * @param {<T>(data: T) => T} needs.redact
 * @param {(warning: Warning) => void} needs.warn
 * @returns {Promise<Results | null>} null: another process has written them
 */
export const mergedResults = async ({ run, outDir, strategy }, { all, redact, warn }) => {
  const folder = join(outDir, String(run))
  const merged = await openResults({
    outDir,
    run,
    strategy,
    epochMs: Date.now(),
    onWarning: warn,
    redact,
  }).catch((error) => {
    if (!(error instanceof OptionError) || !existsSync(folder)) throw error
    return null
  })
  if (!merged) return null
  // What came later of a second is in a line behind it, which may be on another page.
  /** @type {Line[]} */
  const lines = []
  for await (const page of all.seconds()) lines.push(...page)
  merged.facts(all.facts)
  for (const line of joinedSeconds(lines)) merged.interval(line)
  for (const event of all.document.events) merged.event(event)
  return merged
}
