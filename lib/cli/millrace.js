#!/usr/bin/env node
// `millrace COMMAND`: one front door.
import { ExitCode, OptionError } from '../base/errors.js'
import { nearest } from '../base/nearest.js'
import { plainText } from '../base/units.js'
import { millraceVersion } from '../base/version.js'
import { commands } from './commands.js'

const width = Math.max(...Object.keys(commands).map((name) => name.length))
const lines = Object.entries(commands).map(([name, { what }]) => `  ${name.padEnd(width)}  ${what}`)

const usage = `Measures what a Redis data model costs at your rate.

Usage: millrace COMMAND [options]

${lines.join('\n')}

Start with:  millrace demo
             millrace compare sorted-set list -q 50000

  -h, --help     this text; millrace COMMAND --help explains a command
  -v, --version  prints the version`

const [first, ...rest] = process.argv.slice(2)
const [word, argv] =
  first === 'help' && rest.length > 0 ? [rest[0], ['--help', ...rest.slice(1)]] : [first, rest]

/** Why there is no such command, or what a shell that completes one is answered. */
const other = async () => {
  if (word !== '--get-yargs-completions') {
    const like = nearest(word, Object.keys(commands))
    throw new OptionError(
      `millrace has no command '${plainText(word).slice(0, 40)}'${like ? `; did you mean ${like}?` : ' (--help names them)'}`,
    )
  }
  const { offered } = await import('./commands/completion.js')
  process.stdout.write(`${(await offered(argv)).join('\n')}\n`)
  return ExitCode.done
}

// For these nothing of a command is loaded.
if (word === undefined || ['-h', '--help', 'help', '-v', '--version'].includes(word)) {
  process.stdout.on('error', (/** @type {NodeJS.ErrnoException} */ { code }) => {
    process.exitCode = code === 'EPIPE' ? ExitCode.done : ExitCode.fault
  })
  process.stdout.write(`${['-v', '--version'].includes(word) ? millraceVersion() : usage}\n`)
} else {
  const { concluded, start } = await import('./start.js')
  await (Object.hasOwn(commands, word) ? start(word, { argv }) : concluded(other))
}
