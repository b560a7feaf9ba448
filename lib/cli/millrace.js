#!/usr/bin/env node
// `millrace COMMAND`: one front door.
import { ExitCode, OptionError } from '../base/errors.js'
import { nearest } from '../base/nearest.js'
import { plainText } from '../base/units.js'
import { millraceVersion } from '../base/version.js'
import { commands } from './commands.js'
import { concluded, start } from './start.js'

const width = Math.max(...Object.keys(commands).map((name) => name.length))
const lines = Object.entries(commands).map(([name, { what }]) => `  ${name.padEnd(width)}  ${what}`)

const usage = `Measures what a Redis data model costs at your rate.

Usage: millrace COMMAND [options]

${lines.join('\n')}

Start with:  millrace demo
             millrace compare sorted-set list -q 50000

  -h, --help     this text; millrace COMMAND --help explains a command
  -v, --version  prints the version`

/** @param {string} [word] */
const answerOf = (word) => {
  if (word === undefined || ['-h', '--help', 'help'].includes(word)) return usage
  if (['-v', '--version'].includes(word)) return millraceVersion()
  const like = nearest(word, Object.keys(commands))
  throw new OptionError(
    `millrace has no command '${plainText(word).slice(0, 40)}'${like ? `; did you mean ${like}?` : ' (--help names them)'}`,
  )
}

const [first, ...rest] = process.argv.slice(2)
const [word, argv] =
  first === 'help' && rest.length > 0 ? [rest[0], ['--help', ...rest.slice(1)]] : [first, rest]
if (word !== undefined && Object.hasOwn(commands, word)) await start(word, { argv })
else
  await concluded(async () => {
    process.stdout.write(`${answerOf(word)}\n`)
    return ExitCode.done
  })
