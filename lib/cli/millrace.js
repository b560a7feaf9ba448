#!/usr/bin/env node
// `millrace COMMAND`: one front door.
import { ExitCode } from '../base/errors.js'
import { millraceVersion } from '../base/version.js'
import { commands } from './commands.js'

const width = Math.max(...Object.keys(commands).map((name) => name.length))
const lines = Object.entries(commands).map(([name, what]) => `  ${name.padEnd(width)}  ${what}`)
const usage = `Measures what a Redis data model costs at your rate.

Usage: millrace COMMAND [options]

${lines.join('\n')}

Start with:  millrace demo
             millrace compare sorted-set list -q 50000

  -h, --help     this text; millrace COMMAND --help explains a command
  -v, --version  prints the version`

const [first = 'help', ...rest] = process.argv.slice(2)
const [word, argv] =
  first === 'help' && rest.length > 0 ? [rest[0], ['--help', ...rest.slice(1)]] : [first, rest]
const isVersion = ['-v', '--version'].includes(word)

const isData = first === 'help' && rest.includes('--json')

// For these nothing of a command is loaded.
if (isData) {
  const { helpJson } = await import('./help-json.js')
  process.exitCode = await helpJson(rest, process)
} else if (isVersion || ['-h', '--help', 'help'].includes(word)) {
  process.stdout.on('error', (/** @type {NodeJS.ErrnoException} */ { code }) => {
    process.exitCode = code === 'EPIPE' ? ExitCode.done : ExitCode.fault
  })
  process.stdout.write(`${isVersion ? millraceVersion() : usage}\n`)
} else {
  const { start } = await import('./start.js')
  // By this a shell asks for the words that complete a line.
  const isAsked = word === '--get-yargs-completions'
  await start(isAsked ? 'completion' : word, { argv: isAsked ? ['--', ...argv] : argv })
}
