// `millrace fleet files RUN --boxes`: the files that start a fleet on EC2, and what it costs.
import { readFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { optionsOf } from '../../settings.js'
import { OptionError } from '../base/errors.js'
import { clockTime, plainText } from '../base/units.js'
import { millraceVersion } from '../base/version.js'
import { awsCommands, awsTemplate, hourly, optionsFault } from '../fleet/aws-template.js'
import { typedLine } from '../options/command-line.js'
import { settingsOf } from '../options/read-settings.js'
import { writeFiles } from '../report/write-report.js'

const mostBoxes = 64
const wanted = /^(\d{1,3})x([a-z][a-z0-9-]*\d[a-z0-9-]*\.[a-z0-9-]+)(,on-demand|,spot)?$/
const script = new URL('../../docs/examples/fleet/user-data.sh', import.meta.url)

/** @param {string} text */
const boxesOf = (text) => {
  const [, boxes, type, market] = wanted.exec(text) ?? []
  if (boxes === undefined || Number(boxes) < 1 || Number(boxes) > mostBoxes)
    throw new OptionError(
      `--boxes ${plainText(text).slice(0, 40)}: must be 1 to ${mostBoxes} boxes of a type, as in 8xc7g.large or 8xc7g.large,on-demand`,
    )
  return { boxes: Number(boxes), type, spot: market !== ',on-demand' }
}

/**
 * @param {{ run: string, behind: readonly string[], settings: { boxes: string, region?: string, ttlMs: number, out: string, dryRun: boolean, json: boolean } }} asked
 */
export const awsFiles = async ({ run, behind, settings }) => {
  const { boxes, type, spot } = boxesOf(settings.boxes)
  const options = behind.join(' ')
  if (behind.length === 0)
    throw new OptionError(
      'which run? put the options of millrace write behind --, as in -- --host HOST --tls --cluster -q 3000000 -t 8',
    )
  const fault = optionsFault(behind)
  if (fault) throw new OptionError(fault)
  // They are checked here, and not by boxes that cost money.
  const all = optionsOf('producer')
  const line = typedLine([...behind, '--run', run, '--control', 'redis://control'], all)
  const { durationMs } = settingsOf(line, all, { env: {} })
  if (line.options.has('out'))
    throw new OptionError('--out behind -- is not taken: a box uploads its results, and ends')
  if (typeof durationMs === 'number' && durationMs >= settings.ttlMs)
    throw new OptionError(
      `--ttl of ${clockTime(settings.ttlMs)} ends the boxes before their run, whose --duration is ${clockTime(durationMs)}`,
    )
  const fleet = {
    ...{ run, options, boxes, type, spot, minutes: Math.ceil(settings.ttlMs / 60_000) },
    ...{ script: readFileSync(script, 'utf8'), version: millraceVersion() },
  }
  const price = hourly(fleet)
  const hours = fleet.minutes / 60
  const cost =
    price === null
      ? `the price of ${type} is not known here: look it up`
      : `${price.toFixed(2)} USD an hour (us-east-1, on demand, 2026, with its control; without disks and traffic), at most ${(price * hours).toFixed(2)} until the boxes end themselves${spot ? '; as spot instances less' : ''}`
  const folder = join(settings.out, run)
  const path = join(folder, 'template.yaml')
  const commands = awsCommands(fleet, { path, region: settings.region ?? 'REGION' })
  if (!settings.dryRun) {
    await mkdir(folder, { recursive: true })
    await writeFiles(folder, { 'template.yaml': awsTemplate(fleet) })
  }
  process.stdout.write(
    settings.json
      ? `${JSON.stringify({ boxes, type, spot, usd_per_hour: price, ttl_minutes: fleet.minutes, template: settings.dryRun ? null : path, commands }, null, 2)}\n`
      : [
          `${boxes} boxes of ${type}${spot ? ' (spot)' : ''}: ${cost}`,
          ...(settings.dryRun ? [] : [`written: ${path}`]),
          ...commands.map((line, i) => `${['start', 'watch', 'end'][i].padEnd(6)} ${line}`),
          '',
        ].join('\n'),
  )
}
