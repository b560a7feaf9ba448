// Writes the generated parts of README.md and docs/, or checks that they are current.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { answers } from '../lib/answers/index.js'
import { ExitCode, OptionError } from '../lib/base/errors.js'
import { repositoryScript } from '../lib/cli/script.js'
import { shardAddedChart } from './pictures/shard-added.js'
import { choicesPart } from './readme/choices.js'
import { clientRatesPart, searchData } from './readme/client-rates.js'
import { clientsBatchesPart, clientsMemoryPart, clientsParts, clientsPicture } from './readme/clients.js'
import {
  countersBalance,
  countersByDelay,
  countersBySize,
  countersParts,
  countersPictures,
} from './readme/counters.js'
import { dataFolder, dataOf, documents, runNamed, turnsNamed } from './readme/data.js'
import { gatePart } from './readme/gate.js'
import { between, linkedFrom } from './readme/marks.js'
import { measuredFiles, measuredPages, measuredPart } from './readme/measured.js'
import { membershipFit, membershipPictures, membershipSweep } from './readme/membership.js'
import { answersPart, modelsPart, needsPart } from './readme/models.js'
import { envExample, optionsPart } from './readme/options.js'
import { pageTables } from './readme/page-tables.js'
import { modelsFinding, pictureFiles, pictureMarkup } from './readme/pictures.js'
import { profileBarsPart } from './readme/profile-bars.js'
import { publishedSchemas } from './readme/published-schemas.js'
import { queriesParts } from './readme/queries.js'
import { questionsPart } from './readme/questions.js'
import { queuesParts } from './readme/queues.js'
import {
  aclPart,
  experimentsPart,
  keysPart,
  metricsPart,
  mixPlaceholdersPart,
  placeholdersPart,
  prometheusPart,
  strategiesPart,
} from './readme/reference.js'
import { sampleText, terminalColumns, terminalFiles, terminalMarkup } from './readme/terminal.js'
import { typesFile } from './readme/types.js'
import { versionsTables, versionsTurnovers } from './readme/versions.js'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Each is measured on several servers, which are in parentheses. @param {{ rows: { label: string }[] }} experiment */
const modelsIn = ({ rows }) => new Set(rows.map(({ label }) => label.replace(/ \(.*$/, ''))).size

/** What a program prints, as it was measured. */
const samplePart = () => `\`\`\`\n${sampleText(terminalColumns)}\n\`\`\``

/** A file of docs/examples as a block. @param {string} name */
const examplePart = (name) =>
  `\`\`\`${name.split('.').at(-1)}\n${readFileSync(join(root, 'docs/examples', name), 'utf8').trimEnd()}\n\`\`\``

/**
 * The generated parts: file, mark, text.
 * @param {ReturnType<typeof documents>} experiments
 * @returns {[file: string, mark: string, part: string][]}
 */
const partsOf = (experiments) => {
  const models = experiments.get('models')
  const shardAdded = runNamed('add-shard')
  const membership = experiments.get('membership')
  const counters = experiments.get('counters')
  const versions = experiments.get('versions')
  const results = 'docs/reference/results.md'
  const ownModel = 'docs/reference/own-model.md'
  const mixes = 'docs/reference/mixes.md'
  return [
    ...(models
      ? /** @type {[string, string, string][]} */ ([
          [
            'README.md',
            'picture',
            pictureMarkup(
              'charts/measured/models',
              `${modelsFinding(models)}: server CPU and memory per item of ${modelsIn(models)} data models`,
            ),
          ],
          ['docs/models.md', 'answers', answersPart(experiments)],
          ['docs/models.md', 'models', modelsPart(models)],
        ])
      : []),
    ...(shardAdded
      ? /** @type {[string, string, string][]} */ ([
          [
            'docs/reference/clusters-and-failures.md',
            'add-shard',
            pictureMarkup('charts/measured/add-shard', shardAddedChart(shardAdded).title),
          ],
        ])
      : []),
    ...(membership
      ? /** @type {[string, string, string][]} */ ([
          ...Object.entries(membershipPictures(membership)).map(([name, { title }]) => [
            'docs/studies/membership.md',
            name,
            pictureMarkup(`charts/measured/${name}`, title),
          ]),
          ['docs/studies/membership.md', 'sweep', membershipSweep(membership)],
          ['docs/studies/membership.md', 'fit', membershipFit(membership)],
        ])
      : []),
    ...(counters
      ? /** @type {[string, string, string][]} */ ([
          ...Object.entries(countersPictures(counters)).map(([name, { title }]) => [
            'docs/studies/counters.md',
            name,
            pictureMarkup(`charts/measured/${name}`, title),
          ]),
          ['docs/studies/counters.md', 'delays', countersByDelay(counters)],
          ['docs/studies/counters.md', 'parts', countersParts(counters)],
          ['docs/studies/counters.md', 'sizes', countersBySize(counters)],
          ['docs/studies/counters.md', 'balance', countersBalance(counters)],
        ])
      : []),
    ...(versions
      ? /** @type {[string, string, string][]} */ ([
          ['docs/studies/versions.md', 'tables', versionsTables(versions, turnsNamed('versions'))],
          ['docs/studies/versions.md', 'turnovers', versionsTurnovers(versions, turnsNamed('versions'))],
        ])
      : []),
    ...clientsParts(experiments.get('clients')),
    ['docs/studies/clients.md', 'rates', clientRatesPart()],
    ['docs/studies/clients.md', 'batches', clientsBatchesPart()],
    ['docs/studies/clients.md', 'million', clientsMemoryPart()],
    ...queriesParts(experiments, pictureMarkup),
    ...queuesParts(experiments, pictureMarkup),
    ...pageTables(experiments),
    ['README.md', 'questions', questionsPart(experiments)],
    ['README.md', 'terminal', terminalMarkup()],
    ['docs/measure.md', 'sample', samplePart()],
    ['docs/start.md', 'load', examplePart('load.yaml')],
    ['docs/reports.md', 'workflow', examplePart('ci/cost.yaml')],
    ['docs/reference/data-models.md', 'strategies', strategiesPart()],
    ['docs/models.md', 'needs', needsPart()],
    ['docs/validation/choosing.md', 'choices', choicesPart()],
    ['docs/reference/data-models.md', 'keys', keysPart()],
    ['docs/reference/options.md', 'options', optionsPart()],
    ['docs/reference/experiments.md', 'experiments', experimentsPart()],
    [ownModel, 'placeholders', placeholdersPart()],
    [mixes, 'mix-placeholders', mixPlaceholdersPart()],
    [ownModel, 'session-store', examplePart('session-store.yaml')],
    [mixes, 'shop', examplePart('shop.yaml')],
    [ownModel, 'visitors', examplePart('visitors.yaml')],
    [ownModel, 'rate-limiter', examplePart('rate-limiter.js')],
    ['docs/reference/metrics.md', 'metrics', metricsPart()],
    ['docs/reference/metrics.md', 'prometheus', prometheusPart()],
    ['docs/validation/profiling.md', 'bars', profileBarsPart()],
    ['docs/reference/safety.md', 'acl', aclPart()],
    ['docs/validation/self-benchmark.md', 'gate', gatePart()],
    [results, 'measured', measuredPart(experiments)],
  ]
}

/** What comes of the data alone: parts of pages, and whole files. */
export const made = (experiments = documents()) => ({
  parts: partsOf(experiments),
  files: {
    '.env.example': envExample(),
    ...schemaFiles(),
    ...pictureFiles(experiments, runNamed('add-shard')),
    ...measuredFiles(experiments),
    ...measuredPages(experiments),
    ...terminalFiles(),
    ...clientsPicture(experiments.get('clients')),
  },
})

/**
 * Every file with a generated part, as it must be.
 * @param {(file: string) => string} [read]
 * @param {ReturnType<typeof made>} [from]
 * @returns {Record<string, string>} contents by path
 */
export const generatedFiles = (read = readProjectFile, { parts, files } = made()) => {
  /** @type {Record<string, string>} */
  const pages = {}
  for (const [file, mark, part] of parts)
    pages[file] = between(pages[file] ?? read(file), mark, linkedFrom(file, part), file)
  return { ...pages, ...files, 'lib/index.d.ts': typesFile(read('lib/index.d.ts')) }
}

/** The schemas of a run's files, as they ship. @returns {Record<string, string>} */
const schemaFiles = () =>
  Object.fromEntries(
    Object.entries({
      ...publishedSchemas,
      ...Object.fromEntries(
        answers.flatMap(({ kind, schema }) =>
          'properties' in schema ? [[`${kind}.schema.json`, schema]] : [],
        ),
      ),
    }).map(([name, schema]) => [`docs/schemas/${name}`, `${JSON.stringify(schema, null, 2)}\n`]),
  )

/** @param {string} file */
const readProjectFile = (file) => readFileSync(join(root, file), 'utf8')

/** Paths of what differs from what is generated. */
export const staleFiles = (from = made()) =>
  Object.entries(generatedFiles(readProjectFile, from))
    .filter(([file, text]) => !existsSync(join(root, file)) || readProjectFile(file) !== text)
    .map(([file]) => file)

const usage = `Usage: npm run readme [-- options] [RESULTS...]

Writes the generated parts of README.md and docs/, .env.example and the pictures.
RESULTS are folders of finished experiments, of runs or of searches: their figures
are taken into docs/data first, and every published table is computed from there.

  --check      change nothing; exit code 4 if a generated part is not current
  -h, --help   this text`

/** @param {string} folder */
const filesOf = (folder) => {
  const search = join(folder, 'find.json')
  return existsSync(search) ? searchData(JSON.parse(readFileSync(search, 'utf8'))) : dataOf(folder)
}

/** @param {Record<string, any>} options @param {string[]} folders */
const work = async ({ check }, folders) => {
  if (check && folders.length > 0) throw new OptionError('--check takes no folder of results')
  if (check) {
    const stale = staleFiles()
    for (const file of stale) process.stderr.write(`${file} is not current: npm run readme writes it\n`)
    return stale.length > 0 ? ExitCode.invalid : ExitCode.done
  }
  for (const [name, text] of folders.flatMap((folder) => Object.entries(filesOf(folder))))
    write(join(dataFolder, name), text)
  for (const [file, text] of Object.entries(generatedFiles())) write(join(root, file), text)
  return ExitCode.done
}

/** @param {string} file @param {string} text */
const write = (file, text) => {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  repositoryScript({ usage, options: { check: { type: 'boolean' } }, work })
