// `millrace calibrate`: measures a few cells of each model, from which `millrace plan` predicts others.
import { ownOptions } from '../../../settings.js'
import { calibration as kit } from '../../answers/plan/calibration.js'
import { mixFactsOf } from '../../answers/plan/mix.js'
import { ExitCode, OptionError } from '../../base/errors.js'
import { plainText } from '../../base/units.js'
import { refuseWords } from '../../options/command-line.js'
import { isModelFile, loadModel } from '../../workloads/own/load.js'
import { printAnswer } from '../answer.js'
import { calibrate, strategiesIn, usualStrategies } from '../calibration.js'
import { placeIn, placeRows } from '../place.js'
import { screenSay } from '../say.js'
import { interruptsOfSeries } from '../signals.js'
import { withStrategies } from '../typed-strategies.js'

/**
 * @import { Typed } from '../../options/command-line.js'
 * @import { Command } from '../commands.js'
 * @import { Values } from '../../options/values.js'
 */

/** What `calibrate` and a `plan` without a calibration have in common. */
// biome-ignore format: a table, an option a row
export const calibrationOptions = ownOptions('Calibration', [
  { name: 'model', key: 'ownModel', type: 'model', place: 'FILE', otherwise: 'none',
    help: 'your own data model as well, from a file feed.js or feed.yaml (docs/reference/own-model.md)' },
  ...placeRows('calibrate there, best on the node type you consider; keys get the prefix millrace-calibrate: and go', ['foreign-keys', 'memory', 'clock', 'named-hosts']),
  { name: 'server-bin', key: 'serverBin', type: 'path', otherwise: 'redis-server or valkey-server from PATH', help: 'server program of local servers' },
  { name: 'seed', type: 'integer', range: ['0', '2147483648'], default: '1', help: 'seed of the cells' },
  { name: 'out', type: 'path', default: 'results', help: 'folder of the results' },
])

// biome-ignore format: a table, an option a row
const ownRows = ownOptions('Options', [
  { name: 'strategy', key: 'models', type: 'text', place: 'NAMES', default: usualStrategies,
    help: 'data models; all: every one whose stored data can be computed' },
  { name: 'cells', type: 'text', place: 'N+N', default: '12+6', was: { 'held-out': '--cells N+N' },
    help: 'cells of each model (6 to 60), and further ones that are predicted before they are measured (1 to 200)' },
  { name: 'time', key: 'cellMs', type: 'duration', unit: 's', range: ['1s', '10m'], default: '12s', was: { 'cell-time': '--time' },
    help: 'a cell is repeated until its interval is under 5 %, at most for this time' },
  { name: 'duration', also: ['seconds'], key: 'windowS', type: 'wholeSeconds', unit: 's', range: ['1s', '1m'], default: '3s',
    help: 'measured, of each run of a cell' },
  { name: 'items', was: { 'most-items': '--items' }, key: 'mostItems', type: 'integer', range: ['10k', '10M'], default: '1M',
    help: 'most items in the structure' },
  { name: 'value-size', was: { 'most-value-size': '--value-size' }, key: 'mostValueBytes', type: 'bytes', range: ['100B', '1MB'], default: '10kB',
    help: 'largest value of an item' },
  { name: 'max-members', was: { 'most-members': '--max-members' }, key: 'mostMembers', type: 'integer', range: ['10', '10k'], default: '1000',
    help: 'most items in a command' },
])

/**
 * The file that a line names, its model loaded; null: it names none.
 * @param {Typed} typed
 * @param {readonly string[]} [odd] names of options that do not go with a mix
 */
export const fileIn = (typed, odd = []) => {
  const [path] = typed.words
  // Other words may be a password.
  if (path === undefined || !isModelFile(path) || typed.words.length > 1) {
    refuseWords(typed)
    return null
  }
  const name = loadModel(path, '')
  const stranger = ['strategy', 'model', ...(mixFactsOf(name) ? odd : [])].find((one) =>
    typed.options.has(one),
  )
  if (stranger !== undefined) throw new OptionError(`--${stranger} does not go with ${plainText(path)}`)
  return { name, path }
}

/** @param {Values} settings @param {Typed} typed @param {NodeJS.ProcessEnv} env @param {ReturnType<typeof fileIn>} [file] */
export const calibrationRequest = (
  { models, ownModel, serverBin, seed, out, ...place },
  typed,
  env,
  file = null,
) => {
  const files = file
    ? { [file.name]: file.path }
    : ownModel === undefined
      ? {}
      : { [ownModel]: String(typed.options.get('model')) }
  return {
    strategies: file ? [file.name] : strategiesIn(models, files),
    files,
    where: placeIn(place, env),
    serverBin,
    seed,
    out,
  }
}

/** @param {string} text */
const cellsIn = (text) => {
  const [cells, proofs = 6] = /^\d+(\+\d+)?$/.test(text) ? text.split('+').map(Number) : []
  if (!(cells >= 6 && cells <= 60 && proofs >= 1 && proofs <= 200))
    throw new OptionError(
      `--cells ${plainText(text).slice(0, 40)}: must be 6 to 60 cells and 1 to 200 further ones, as in 12+6`,
    )
  return { cells, proofs }
}

/** @type {Command} */
export const command = {
  about: {
    words: '[FILE | STRATEGY...]',
    does: 'Measures about a dozen cells of each data model (sizes of values, items, items in a command, connections) and fits what a command, an item and a byte cost. Then it predicts further cells, drawn by seed, writes the predictions down, and measures them: how close the predictions were is in the result, from which millrace plan predicts your workload.',
    examples: [
      ['three models on local servers, about six minutes', 'sorted-set list stream'],
      ['a workload file of millrace profile, at several rates', 'profile/NAME/workload.yaml'],
      ['on a server of the node type that you consider', 'list --url redis://my-cache:6379'],
    ],
  },
  options: [
    ...ownRows,
    ...calibrationOptions,
    ...ownOptions('Output', [{ name: 'json', type: 'flag', help: 'print the calibration as JSON' }]),
  ],
  isPrivate: true,
  takesWords: true,
  placed: async (line) => withStrategies(line, { areSeveral: true }),
  work: async ({ settings, typed, env }) => {
    /** @type {Values} */
    const values = settings
    const file = fileIn(typed, ['items', 'value-size', 'max-members'])
    const stop = interruptsOfSeries()
    const { document, folder } = await calibrate(
      {
        ...calibrationRequest(values, typed, env, file),
        ...cellsIn(values.cells),
        limitS: values.cellMs / 1000,
        windowS: values.windowS,
        most: { items: values.mostItems, valueBytes: values.mostValueBytes, members: values.mostMembers },
      },
      screenSay,
      stop,
    )
    printAnswer(document, values.json, kit.text)
    screenSay(`plan with it: millrace plan --calibration ${folder}`)
    return stop.aborted ? ExitCode.interrupted : ExitCode.done
  },
}
