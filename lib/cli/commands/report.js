// `millrace report`: everything that can be made of a finished run or experiment: page, charts, text, Markdown and CSV.
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { ownOptions } from '../../../settings.js'
import { answerFilesIn } from '../../answers/index.js'
import { ExitCode, OptionError } from '../../base/errors.js'
import { bytes, several } from '../../base/units.js'
import { missingFor } from '../../report/draw.js'
import { allFiles, writeFiles } from '../../report/write-report.js'
import { outFolder } from '../../result/files.js'
import { readRecord, remadeIn } from '../../result/record.js'

/** @import { Command } from '../commands.js' */

/** Of an answer its files, of a run or an experiment all that can be made of it. @param {string} folder */
const madeAgain = async (folder) => {
  await remadeIn(folder)
  const isRecord = ['run.json', 'experiment.json'].some((name) => existsSync(join(folder, name)))
  const answer = isRecord ? null : await answerFilesIn(folder)
  if (answer) return { ...answer, wasKilled: false }
  const record = await readRecord(folder)
  return {
    name: 'report.html',
    files: await allFiles(record),
    wasKilled: record.kind === 'run' && record.run.warnings.some(({ code }) => code === 'killed'),
  }
}

/** @type {Command} */
export const command = {
  about: {
    words: 'RESULTS',
    does: 'Writes report.html, report.md, report.txt, CSV files and charts/ (SVG and PNG, light and dark) for the run or the experiment in the folder RESULTS; of find, choose, compare and profile, the page of their JSON. run.json of a run is made again from its facts.json and intervals.ndjson, also of one that was killed: then it exits 4.',
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
    const { name, files, wasKilled } = await madeAgain(folder)
    await outFolder(target)
    await writeFiles(target, files)
    const missing = missingFor('png')
    if (missing) process.stderr.write(`${missing}\n`)
    const size = Buffer.byteLength(files[name])
    process.stdout.write(
      `${several(Object.keys(files).length, 'file')} in ${target}; ${name} ${bytes(size)}\n`,
    )
    return wasKilled ? ExitCode.invalid : ExitCode.done
  },
}
