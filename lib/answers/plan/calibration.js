// A calibration: its shape, its file, and its text.
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { OptionError, TargetError } from '../../base/errors.js'
import { faultIn } from '../../base/json-schema.js'
import * as S from '../../base/shape.js'
import { percent, plainText, several } from '../../base/units.js'
import { answer } from '../../report/kit.js'
import { proofWords, scoresOf } from './proof.js'

/** @import { Schema, Shaped } from '../../base/shape-types.js' */

/** @template {Schema} const T @param {T} shape a list @param {number} minItems */
const atLeast = (shape, minItems) => ({ ...shape, minItems })

const factors = S.each(['items', 'valueBytes', 'members', 'connections'], S.number)
const amounts = S.object(S.each(['commands', 'members', 'bytesIn', 'bytesOut', 'computed_bytes'], S.number))
const measured = S.object({
  rate: S.number,
  cpu_us: S.byName(S.number),
  ...S.each(['half_pct', 'memory_bytes', 'net_bytes'], S.figure),
  runs: S.number,
})
const interval = S.object(S.each(['value', 'low', 'high'], S.number))
const model = S.object({
  terms: atLeast(S.list(S.object({ name: S.text, ...S.each(['value', 'low', 'high'], S.number) })), 1),
  left_out: S.list(S.object(S.each(['name', 'why'], S.text))),
  ...S.each(['spread', 'freedom'], S.number),
  covariance: S.list(S.list(S.number)),
})

const mix = {
  description: 'of a mix: what its file has',
  ...S.object({
    digest: S.text,
    rate: S.said('operations a second that were profiled', S.figure),
    ...S.each(['connections', 'pipeline'], S.number),
    keys: S.list(S.object({ pattern: S.text, ...S.each(['keys', 'bytes'], S.number), expires: S.flag })),
    commands: S.list(S.object({ name: S.text, share: S.number, pattern: S.text, reads: S.flag })),
  }),
}

export const calibrationVersion = 1

const calibrated = S.object({
  strategy: S.text,
  variant: S.note,
  mix: S.maybe(mix),
  cells: S.list(S.object({ ...factors, amounts, measured })),
  cpu: { ...S.object({ master: model }) },
  memory: S.orNull(model),
  proof: S.list(
    S.object({
      ...factors,
      amounts,
      predicted: S.object({
        cpu_us: S.byName(interval),
        memory_bytes: S.orNull(interval),
        net_bytes: S.number,
      }),
      measured: S.orNull(measured),
    }),
  ),
})

const schema = S.document('calibration.json: what millrace calibrate measured, and the models of it', {
  schema: S.just(calibrationVersion),
  kind: S.just('calibration'),
  complete: S.said('false: it was stopped before its end', S.flag),
  ...S.each(['started', 'millrace'], S.text),
  server: S.object({
    version: S.text,
    allocator: S.oneOf('jemalloc-8', 'jemalloc-16', 'libc'),
    ...S.each(['masters', 'replicas'], S.number),
    configuration: S.byName(S.text),
  }),
  machine: S.object({ cpu: S.text, cores: S.number, node: S.text, where: S.oneOf('local', 'address') }),
  seed: S.number,
  ranges: S.object(
    S.each(
      /** @type {readonly (keyof typeof factors)[]} */ (Object.keys(factors)),
      atLeast(S.list(S.number), 2),
    ),
  ),
  idle: S.list(S.object({ cpu_pct: S.byName(S.number), net_bytes_per_s: S.number })),
  references: S.list(S.object({ strategy: S.text, after: S.number, cpu_us: S.byName(S.number) })),
  models: atLeast(S.list(calibrated), 1),
})

/** @typedef {Omit<Shaped<typeof calibrated>, 'cpu'> & { cpu: Readonly<Record<string, Shaped<typeof model>>> }} CalibratedModel cpu: by role */
/** @typedef {Omit<Shaped<typeof schema>, 'models'> & { models: readonly CalibratedModel[] }} Calibration */

const three = (/** @type {number} */ n) => String(+n.toPrecision(3))

/** @type {Record<string, string>} */
const termNames = {
  command: 'a command',
  byte: 'a kilobyte',
  log2_items: 'a doubling of the items',
  member: 'an item in a command',
  byte_log2: 'a kilobyte for each doubling of the items',
  first_byte: 'an extra for each of the first two kilobytes',
  second: 'a second, whatever its rate,',
}
const ofKilobyte = new Set(['byte', 'byte_log2', 'first_byte'])

/** @param {string} role @param {CalibratedModel['cpu'][string]} model @param {boolean} isMix */
const cpuWords = (role, { terms, left_out: leftOut }, isMix) => {
  const words = terms.map(({ name, value, low, high }) => {
    const [one, from, to] = [value, low, high].map((n) => (ofKilobyte.has(name) ? n * 1000 : n))
    return `${termNames[name]} ${three(one)} µs (${three(from)} to ${three(to)})`
  })
  const out = leftOut.map(({ name, why }) => `${termNames[name]} (${why})`)
  return [
    `CPU of a ${role} per ${isMix ? 'operation' : 'item'}: ${words.join(' + ')}.`,
    ...(out.length > 0 ? [`Left out: ${out.join('; ')}.`] : []),
  ]
}

/** By how much the reference cells of a model differ. @param {Calibration['references']} references @param {string} strategy */
const driftWords = (references, strategy) => {
  const costs = references.filter((one) => one.strategy === strategy).map(({ cpu_us: cpu }) => cpu.master)
  if (costs.length < 2) return []
  const apart = (Math.max(...costs) / Math.min(...costs) - 1) * 100
  return [`The reference cell was measured ${several(costs.length, 'time')}: up to ${percent(apart)} apart.`]
}

/** @param {Calibration} answer */
const modelParagraphs = ({ models, references }) =>
  models.map(({ strategy, mix, cells, cpu, memory, proof }) => [
    `${strategy.toUpperCase()}, ${several(cells.length, 'cell')}`,
    ...Object.entries(cpu).flatMap(([role, model]) => cpuWords(role, model, Boolean(mix))),
    memory === null
      ? 'Memory was computed, not measured.'
      : `Memory: ${memory.terms.map(({ name, value }) => (name === 'computed' ? `${value.toFixed(3)} times what was computed` : `${three(value)} B ${name}`)).join(' + ')}.`,
    ...driftWords(references, strategy),
    `${proofWords(scoresOf(proof))}.`,
  ])

export const calibration = answer({
  kind: 'calibration',
  schema,
  prose: (/** @type {Calibration} */ one) => [
    [
      `Server ${one.server.version} (${one.server.allocator}) on ${one.machine.where === 'local' ? one.machine.cpu : 'the target'}.`,
    ],
    ...modelParagraphs(one),
    one.complete ? [] : ['The calibration was stopped before its end.'],
  ],
})

export const calibrationName = 'calibration.json'

/** 7.0 of 7.0.15: patch versions do not change costs enough. @param {string} version */
const series = (version) => version.split('.').slice(0, 2).join('.')

/** @param {string} path of the file, or of its folder @param {{ serverVersion?: string }} wanted @returns {Calibration} */
export const readCalibration = (path, { serverVersion } = {}) => {
  const where = `--calibration ${plainText(path)}`
  const text = (() => {
    try {
      return readFileSync(statSync(path).isDirectory() ? join(path, calibrationName) : path, 'utf8')
    } catch (cause) {
      const { code } = /** @type {NodeJS.ErrnoException} */ (cause)
      throw new OptionError(`${where} cannot be read (${code})`, { cause })
    }
  })()
  const document = (() => {
    try {
      return JSON.parse(text)
    } catch (cause) {
      throw new OptionError(`${where} is incomplete, or not JSON`, { cause })
    }
  })()
  if (document?.kind !== 'calibration') throw new OptionError(`${where} is not a calibration`)
  if (document.schema !== calibrationVersion)
    throw new OptionError(
      `${where} has schema ${plainText(String(document.schema)).slice(0, 20)}, and this version reads ${calibrationVersion}: calibrate again`,
    )
  const fault = faultIn(document, calibration.schema)
  if (fault !== null) throw new OptionError(`${where} is damaged: ${fault}`)
  const { version } = document.server
  if (serverVersion !== undefined && series(serverVersion) !== series(version))
    throw new TargetError(
      `${where} is of server ${plainText(version)}, and --server-version is ${plainText(serverVersion)}: calibrate on that version`,
      { code: 'VERSION' },
    )
  return document
}
