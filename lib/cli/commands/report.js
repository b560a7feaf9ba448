// `millrace report`: everything that can be made of a finished run or experiment: page, charts, text, Markdown and CSV.
import { existsSync, statSync } from 'node:fs'
import { ownOptions } from '../../../settings.js'
import { ExitCode, OptionError } from '../../base/errors.js'
import { bytes, several } from '../../base/units.js'
import { missingFor } from '../../report/draw.js'
import { allFiles, writeFiles } from '../../report/write-report.js'
import { outFolder } from '../../result/files.js'
import { readRecord, remadeIn } from '../../result/record.js'

/** @import { Command } from '../commands.js' */

/** @type {Command} */
export const command = {
  about: {
    words: 'RESULTS',
    does: 'Writes report.html, report.md, report.txt, CSV files and charts/ (SVG and PNG, light and dark) for the run or the experiment in the folder RESULTS. run.json of a run is made again from its facts.json and intervals.ndjson, also of one that was killed: then it exits 4.',
    examples: [['of the newest run', 'results/2026-11-22T11-08-08-sorted-set']],
  },
  options: ownOptions('Options', [
    { name: 'out', type: 'path', otherwise: 'RESULTS', help: 'folder to write them to' },
  ]),
  isPrivate: true,
  takesWords: true,
  work: async ({ settings: { out }, typed: { words }, as }) => {
    const [folder] = words
    if (words.length !== 1) throw new OptionError(`name one folder of results: ${as} RESULTS [--out DIR]`)
    if (!existsSync(folder)) throw new OptionError(`${folder}: there is no such folder`)
    const target = out ?? folder
    if (out !== undefined && existsSync(out) && !statSync(out).isDirectory())
      throw new OptionError(`--out ${out} is a file; name a folder`)
    await remadeIn(folder)
    const record = await readRecord(folder)
    await outFolder(target)
    const files = await allFiles(record)
    await writeFiles(target, files)
    const missing = missingFor('png')
    if (missing) process.stderr.write(`${missing}\n`)
    const size = Buffer.byteLength(files['report.html'])
    process.stdout.write(
      `${several(Object.keys(files).length, 'file')} in ${target}; report.html ${bytes(size)}\n`,
    )
    const wasKilled = record.kind === 'run' && record.run.warnings.some(({ code }) => code === 'killed')
    return wasKilled ? ExitCode.invalid : ExitCode.done
  },
}
