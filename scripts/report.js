#!/usr/bin/env node
// Everything that can be made of a finished run or experiment: page, charts, text, Markdown and CSV.
import { existsSync } from 'node:fs'
import { bytes, several } from '../lib/base/units.js'
import { script } from '../lib/cli/script.js'
import { ExitCode, OptionError } from '../lib/errors.js'
import { missingFor } from '../lib/report/draw.js'
import { allFiles, writeFiles } from '../lib/report/write-report.js'
import { codeOf, madeWithParents } from '../lib/result/files.js'
import { readRecord } from '../lib/result/record.js'

const usage = `Usage: node scripts/report.js RESULTS [--out DIR]

Writes report.html, report.md, report.txt, CSV files and charts/ (SVG and PNG, light and dark) for the run or the
experiment in the folder RESULTS.

  --out DIR   where to write them (RESULTS)
  -h, --help  this text`

await script({
  usage,
  options: { out: { type: 'string' } },
  work: async ({ out }, words) => {
    const [folder] = words
    if (words.length !== 1)
      throw new OptionError('one folder of results: node scripts/report.js RESULTS [--out DIR]')
    if (!existsSync(folder)) throw new OptionError(`${folder}: there is no such folder`)
    const record = await readRecord(folder)
    const target = out ?? folder
    await madeWithParents(target).catch((cause) => {
      throw new OptionError(`--out ${target}: the folder cannot be written (${codeOf(cause)})`, { cause })
    })
    const files = await allFiles(record)
    await writeFiles(target, files)
    const missing = missingFor('png')
    if (missing) process.stderr.write(`${missing}\n`)
    const size = Buffer.byteLength(files['report.html'])
    process.stdout.write(
      `${several(Object.keys(files).length, 'file')} in ${target}; report.html ${bytes(size)}\n`,
    )
    return ExitCode.done
  },
})
