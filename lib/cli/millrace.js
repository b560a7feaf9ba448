#!/usr/bin/env node
// `millrace COMMAND`: one front door.
import { ExitCode } from '../base/errors.js'
import { millraceVersion } from '../base/version.js'
import { commandIn, questions } from './commands.js'

const rows = Object.entries(questions).flatMap(([question, all]) =>
  Object.entries(all)
    .filter(([name]) => !name.includes(' ') && name !== 'demo')
    .map(([name, what], at) => `  ${(at === 0 ? question : '').padEnd(12)}${name.padEnd(12)}${what}`),
)
// One screen of 80 x 24; demo is in its last line.
const usage = `Measures what a Redis data model costs at your rate: millrace COMMAND [options]

${rows.join('\n')}
Start with millrace demo. millrace COMMAND --help explains a command.`

const [first = 'help', ...rest] = process.argv.slice(2)
const asksHelp = first === 'help' && rest.length > 0
const { name: word, argv } = commandIn(asksHelp ? rest : [first, ...rest])
if (asksHelp) argv.unshift('--help')
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
