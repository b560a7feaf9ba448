// Writes what docs/options.md and .env.example take from the table of options: node scripts/readme.js
// With a folder of experiments' results, docs/results.md and the README's answers too: node scripts/readme.js results/experiments
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defaultText, meaning } from '../lib/cli/help.js'
import { script } from '../lib/cli/script.js'
import { VALUE_TYPES } from '../lib/cli/values.js'
import { ExitCode, OptionError } from '../lib/errors.js'
import { OPTIONS } from '../settings.js'
import { between } from './readme/marks.js'
import { answersPart, measuredPart, newestResults } from './readme/measured.js'

const told = OPTIONS.filter(({ hidden }) => !hidden)
const groups = [...new Set(told.map(({ group }) => group))]

/** The options as Markdown, a table for each group. */
export function optionsTable() {
  const tables = groups.map((group) => {
    const rows = told
      .filter((option) => option.group === group)
      .map((option) => {
        const names = [...option.aliases.map(dashed), dashed(option.name)].map(code).join(' ')
        const otherwise = option.otherwise ?? code(defaultText(option))
        const cells = [
          names,
          option.help,
          VALUE_TYPES[option.type].shape(option),
          otherwise,
          code(option.env),
        ]
        return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
      })
    const head = '| option | meaning | values | default | environment |\n| --- | --- | --- | --- | --- |'
    return `**${group}**\n\n${head}\n${rows.join('\n')}`
  })
  return tables.join('\n\n')
}

/** An example of `.env` that says every variable and changes nothing. */
export function envExample() {
  const paragraphs = groups.map((group) => {
    const lines = told
      .filter((option) => option.group === group)
      .flatMap((option) => [
        `# ${meaning(option)} (${defaultText(option)})`,
        `#${option.env}=${exampleOf(option)}`,
      ])
    return [`## ${group}`, ...lines].join('\n')
  })
  const head = [
    '# Copy to .env and take the # off the lines you need; what is given here is the default.',
    '# The environment and the command line are stronger. A value with # or blanks goes in quotes.',
    '# MILLRACE_NO_DOTENV=1 in the environment leaves .env out.',
  ]
  return `${[head.join('\n'), ...paragraphs].join('\n\n')}\n`
}

/** docs/options.md with its tables written anew. @param {string} page */
export const withOptionsTable = (page) => between(page, 'options', optionsTable())

/** @param {string} name */
const dashed = (name) => `${name.length === 1 ? '-' : '--'}${name}`

/** @param {string} text */
const code = (text) => `\`${text}\``

/** @param {import('../settings.js').Option} option */
const exampleOf = (option) => option.default ?? (option.type === 'flag' ? 'false' : '')

const usage = `Usage: node scripts/readme.js [RESULTS]

Writes the tables of options into docs/options.md and .env.example; with a folder
of experiments' results, docs/results.md and the answers in README.md too.

  -h, --help   this text`

/** @param {string} name of a file of the project @param {(text: string) => string} change */
const rewrite = (name, change) => {
  const file = new URL(`../${name}`, import.meta.url)
  writeFileSync(file, change(readFileSync(file, 'utf8')))
}

/** @param {Record<string, any>} _ @param {string[]} words */
const work = async (_, words) => {
  if (words.length > 1)
    throw new OptionError(`one folder of results at most, not ${words.length}: ${words.join(', ')}`)
  const root = fileURLToPath(new URL('..', import.meta.url))
  const [results] = words
  const measured = results === undefined ? null : await newestResults(results)
  rewrite('docs/options.md', withOptionsTable)
  if (measured) {
    rewrite('README.md', (text) => between(text, 'answers', answersPart(measured)))
    rewrite('docs/results.md', (text) => between(text, 'measured', measuredPart(measured, root)))
  }
  writeFileSync(new URL('../.env.example', import.meta.url), envExample())
  return ExitCode.done
}

if (process.argv[1] === fileURLToPath(import.meta.url)) script({ usage, options: {}, work })
