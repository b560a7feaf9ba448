#!/usr/bin/env node
// What Millrace itself costs, measured beside others in one run: every case is run in turn with its partner, as
// often as --rounds says, and the medians are printed with the hardware. A slow day fails nothing.
import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { ExitCode, OptionError } from '../lib/base/errors.js'
import { alignedTable } from '../lib/base/layout.js'
import { repositoryScript } from '../lib/cli/script.js'
import { consumerCases } from './bench/consumer.js'
import { engineCases } from './bench/engine.js'
import { findCases } from './bench/find.js'
import { floorCases } from './bench/floor.js'
import { fallen, leastRounds, record } from './bench/gate.js'
import { hourCase } from './bench/hour.js'
import { lookupCases } from './bench/lookup.js'
import { overloadCases } from './bench/overload.js'
import { pairCases } from './bench/pairs.js'
import { verdict } from './bench/room.js'
import { threadCases } from './bench/threads.js'
import { members, strategyCosts, writerCases } from './bench/writer.js'

/** @import { Case } from './bench/room.js' */

const usage = `Usage: npm run bench -- [options] [part of a case's name...]
       npm run bench -- gate [--record] [--rounds N]
       npm run bench -- engine [--against FOLDER] [--rounds N]

  gate         the ratios to other tools alone, held against those of docs/data/bench.json: prints those that fell by
               more than their noise, and ends with 99 then (quick rounds, 5 of them)
  engine       the loads over sockets in memory: CPU an operation; with --against beside the checkout in FOLDER, and ends with
               99 when one costs more than 3 % more
  --record     writes the ratios to docs/data/bench.json instead
  --rounds N   of each case; prints the medians (5; 1 with --quick)
  --quick      10 seconds instead of a minute
  --list       the names of the cases
  -h, --help   this text`

const cases = [...writerCases, ...lookupCases, ...consumerCases()]
const others = [
  ...overloadCases,
  ...findCases,
  hourCase,
  ...threadCases,
  ...pairCases,
  ...floorCases,
  members(),
  strategyCosts(),
]

/** @param {Record<string, any>} options @param {string[]} words */
const work = async (options, words) => {
  const isGate = words.length === 1 && words[0] === 'gate'
  const rounds = Number(options.rounds ?? (options.quick && !isGate ? 1 : 5))
  const least = isGate ? leastRounds : 1
  if (!Number.isInteger(rounds) || rounds < least)
    throw new OptionError(`--rounds ${options.rounds}: a whole number from ${least} on`)
  if (options.record && !isGate) throw new OptionError('--record belongs to gate')
  if (options.against && !words.every((word) => word.startsWith('engine')))
    throw new OptionError('--against belongs to engine')
  if (isGate) return gate(rounds, options.record)
  const engine = engineCases(options.against ?? null)
  const all = [...cases, ...engine, ...others]
  const wanted =
    words.length > 0 ? all.filter(({ name }) => words.some((word) => name.includes(word))) : cases
  if (wanted.length === 0)
    throw new OptionError(`no case is called '${words.join("', '")}' (--list names them)`)
  if (options.list) process.stdout.write(`${all.map(({ name }) => name).join('\n')}\n`)
  else {
    const rows = await measure(wanted, rounds, options.quick)
    if (options.against && rows.some(({ met }) => met === false)) return ExitCode.threshold
  }
  return ExitCode.done
}

/** @param {number} rounds @param {boolean} isRecorded */
const gate = async (rounds, isRecorded) => {
  const measured = await figuresOf(
    [...cases, ...others].filter(({ ratios }) => ratios),
    rounds,
    true,
  )
  const ratios = [...measured].flatMap(([{ ratios: of }, lists]) => of?.(lists) ?? [])
  if (isRecorded) {
    record(ratios, machine())
    return ExitCode.done
  }
  const { lines, fell } = fallen(ratios)
  process.stdout.write(`${machine()}; ${rounds} rounds\n${lines.join('\n')}\n`)
  return fell ? ExitCode.threshold : ExitCode.done
}

const machine = () => {
  const [{ model }] = cpus()
  const gigabytes = Math.round(totalmem() / 2 ** 30)
  return `${cpus().length} x ${model.trim()}, ${gigabytes} GiB, Node ${process.versions.node}`
}

/** @param {Case[]} wanted @param {number} rounds @param {boolean} quick */
const figuresOf = async (wanted, rounds, quick) => {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-bench-'))
  const room = {
    folder,
    seconds: (/** @type {number} */ n) => (quick ? Math.max(Math.min(n, 6), Math.round(n / 6)) : n),
  }
  /** @type {Map<Case, Record<string, number[]>>} */
  const figures = new Map()
  try {
    for (let round = 1; round <= rounds; round++) {
      for (const each of wanted) {
        process.stderr.write(`round ${round} of ${rounds}: ${each.name}\n`)
        const found = await each.round(room)
        const lists = figures.get(each) ?? {}
        for (const [key, value] of Object.entries(found)) lists[key] = [...(lists[key] ?? []), value]
        figures.set(each, lists)
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  return figures
}

/** @param {Case[]} wanted @param {number} rounds @param {boolean} quick */
const measure = async (wanted, rounds, quick) => {
  const figures = await figuresOf(wanted, rounds, quick)
  process.stdout.write(`${machine()}; median of ${rounds}\n\n`)
  const rows = [...figures].flatMap(([each, lists]) => each.rows(lists))
  const table = alignedTable(
    [
      { title: 'what', cell: ({ name }) => name, left: true },
      { title: 'wanted', cell: ({ limit }) => limit },
      { title: 'found', cell: ({ figure }) => figure },
      { title: '', cell: verdict, left: true },
    ],
    rows,
    Math.max(160, process.stdout.columns ?? 0),
  )
  process.stdout.write(`${table.join('\n')}\n`)
  return rows
}

await repositoryScript({
  usage,
  options: {
    rounds: { type: 'string' },
    quick: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
    record: { type: 'boolean', default: false },
    against: { type: 'string' },
  },
  work,
})
