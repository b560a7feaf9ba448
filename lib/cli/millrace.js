#!/usr/bin/env node
import { nearest } from '../base/nearest.js'
import { plainText } from '../base/units.js'
// `millrace COMMAND`: one front door. A command's modules are loaded only when it is used.
import { ExitCode, OptionError } from '../errors.js'
import { millraceVersion } from '../run/versions.js'
import { commands } from './commands.js'
import { concluded } from './program.js'

const width = Math.max(...Object.keys(commands).map((name) => name.length))
const lines = Object.entries(commands).map(([name, { what }]) => `  ${name.padEnd(width)}  ${what}`)

const usage = `Usage: millrace COMMAND [options]

${lines.join('\n')}

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

const [word] = process.argv.slice(2)
if (word !== undefined && Object.hasOwn(commands, word)) {
  // Each of them is a program that reads its own command line, also without this one in front.
  process.argv.splice(2, 1)
  await commands[word].load()
} else
  await concluded(async () => {
    process.stdout.write(`${answerOf(word)}\n`)
    return ExitCode.done
  })
