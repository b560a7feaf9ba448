#!/usr/bin/env node
// What Millrace itself costs, measured beside others in one run: every case is run in turn with its partner, as
// often as --rounds says, and the medians are printed with the hardware. A slow day fails nothing.
import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { alignedTable } from '../lib/report/layout.js'
import { consumerCases } from './bench/consumer.js'
import { members, strategyCosts, writerCases } from './bench/writer.js'

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '5' },
    quick: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
  },
})
const cases = [...writerCases, ...consumerCases()]
const all = [...cases, members(), strategyCosts()]
const wanted =
  positionals.length > 0 ? all.filter(({ name }) => positionals.some((word) => name.includes(word))) : cases
if (options.list || wanted.length === 0) {
  process.stdout.write(`${all.map(({ name }) => name).join('\n')}\n`)
  process.exit(options.list ? 0 : 2)
}

const rounds = options.quick ? 1 : Number(options.rounds)
const folder = mkdtempSync(join(tmpdir(), 'millrace-bench-'))
const room = {
  folder,
  seconds: (/** @type {number} */ n) => (options.quick ? Math.max(6, Math.round(n / 6)) : n),
}
/** @type {Map<import('./bench/room.js').Case, Record<string, number[]>>} */
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

const [{ model }] = cpus()
const gigabytes = Math.round(totalmem() / 2 ** 30)
process.stdout.write(
  `${cpus().length} x ${model.trim()}, ${gigabytes} GiB, Node ${process.versions.node}; median of ${rounds}\n\n`,
)
const rows = [...figures].flatMap(([each, lists]) => each.rows(lists))
const table = alignedTable(
  [
    { title: 'what', cell: ({ name }) => name, left: true },
    { title: 'wanted', cell: ({ limit }) => limit },
    { title: 'found', cell: ({ figure }) => figure },
    { title: '', cell: ({ met }) => (met ? 'ok' : 'NOT MET'), left: true },
  ],
  rows,
  Math.max(160, process.stdout.columns ?? 0),
)
process.stdout.write(`${table.join('\n')}\n`)
