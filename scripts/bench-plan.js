#!/usr/bin/env node
// `millrace plan` beside Netflix's service-capacity-modeling and beside what this machine measures, and published points
// of other machines predicted from a calibration here.
import { spawnSync } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { measureCell, measureIdle, predictionOf } from '../lib/answers/plan/calibrate.js'
import { readCalibration } from '../lib/answers/plan/calibration.js'
import { rateOfCell } from '../lib/answers/plan/cells.js'
import { ExitCode } from '../lib/base/errors.js'
import { alignedTable } from '../lib/base/layout.js'
import { count } from '../lib/base/units.js'
import { calibrate, localBench } from '../lib/cli/calibration.js'
import { screenSay } from '../lib/cli/say.js'
import { repositoryScript } from '../lib/cli/script.js'
import { publishedRows } from './bench/plan-published.js'

const peer = 'service-capacity-modeling==0.3.212'
const usage = `Usage: npm run bench:plan -- [options]

  --calibration A,B  folders of millrace calibrate with sorted-set, list and actual-value; without it one is made
  --python PATH      a Python that has ${peer} (python3); without it its columns are empty
  --published        only the published points of other machines
  -h, --help         this text`

// As a calibration names them.
const key = (/** @type {number} */ n) => `millrace-calibrate:item:${n}`.length

/** Ten workloads: of both models, small and large values, few and many items. */
const workloads = ['sorted-set', 'list'].flatMap((strategy) =>
  /** @type {const} */ ([
    [5000, 20, 1000],
    [20_000, 200, 1000],
    [20_000, 1000, 1000],
    [200_000, 100, 100],
    [5000, 5000, 10],
  ]).map(([items, valueBytes, members]) => ({ strategy, items, valueBytes, members, connections: 1 })),
)

/** @param {string} python */
const peerPlans = (python) => {
  const loads = workloads.map((load) => ({
    rate: Math.round(rateOfCell(load)),
    items: load.items,
    key_bytes: key(load.items),
    value_bytes: load.valueBytes,
  }))
  const file = fileURLToPath(new URL('bench/plan-peer.py', import.meta.url))
  const { status, stdout } = spawnSync(python, [file], { input: JSON.stringify(loads), encoding: 'utf8' })
  if (status === 0) return JSON.parse(stdout)
  screenSay(
    `${python} has no ${peer} (python3 -m venv DIR && DIR/bin/pip install ${peer}): its columns are empty`,
  )
  return null
}

/** @param {number | null | undefined} value @param {number} digits */
const shown = (value, digits) => (typeof value === 'number' ? value.toFixed(digits) : '')
/** @param {number | null | undefined} value @param {number | null} truth */
const off = (value, truth) =>
  typeof value === 'number' && truth !== null
    ? `${value > truth ? '+' : ''}${(100 * (value / truth - 1)).toFixed(1)} %`
    : ''

/** @param {readonly any[]} models @param {any} allocator @param {string} python */
const sideBySide = async (models, allocator, python) => {
  const plans = peerPlans(python)
  const needs = /** @type {any} */ ({
    ...{ open: () => localBench(), optionsOf: (/** @type {string} */ strategy) => ({ strategy }) },
    ...{ allocator, isCluster: false, windowS: 3, limitS: 12, stop: new AbortController().signal },
  })
  const rows = []
  for (const [i, load] of workloads.entries()) {
    const { strategy } = load
    const { amounts, measured } = await measureCell(needs, strategy, load, await measureIdle(needs, strategy))
    const ours = predictionOf(
      models.find((model) => model.strategy === strategy),
      amounts,
      load,
    )
    const found = { cpu_us: measured.cpu_us.master, memory_bytes: measured.memory_bytes }
    rows.push({ ...load, ours, peer: plans?.[i] ?? null, found })
    screenSay(`${i + 1} of ${workloads.length} workloads`)
  }
  return alignedTable(
    [
      {
        title: 'workload',
        left: true,
        cell: ({ strategy, items, valueBytes, members }) =>
          `${strategy}, ${count(items)} x ${valueBytes} B, ${members}`,
      },
      { title: 'CPU µs', cell: ({ found }) => shown(found.cpu_us, 2) },
      { title: 'millrace', cell: ({ ours, found }) => off(ours.cpu_us.master.value, found.cpu_us) },
      { title: 'Netflix', cell: ({ peer: one, found }) => off(one?.cpu_us, found.cpu_us) },
      { title: 'memory B', cell: ({ found }) => shown(found.memory_bytes, 1) },
      { title: 'millrace', cell: ({ ours, found }) => off(ours.memory_bytes?.value, found.memory_bytes) },
      { title: 'Netflix', cell: ({ peer: one, found }) => off(one?.memory_bytes, found.memory_bytes) },
    ],
    rows,
    120,
  )
}

/** @param {readonly any[]} models */
const publishedTable = async (models) => {
  const rows = (await publishedRows(models)).map((row) => ({ ...row }))
  const judged = rows.filter(({ anchor }) => !anchor)
  const within = judged.filter(({ errorPct }) => Math.abs(errorPct) <= 15).length
  return [
    ...alignedTable(
      [
        {
          title: 'published point',
          left: true,
          cell: ({ id, node, strategy, extra }) =>
            `${id}, ${node}, ${strategy}${extra ? ' and one more' : ''}`,
        },
        {
          title: 'writers',
          cell: ({ writers, each, intervalMs, chunks, shards }) =>
            `${writers} x ${each}${intervalMs ? ` / ${intervalMs} ms` : ''}${chunks ? `, ${chunks} chunks` : ''}${shards ? `, ${shards} shards` : ''}`,
        },
        { title: 'true rate', cell: ({ rate }) => count(rate) },
        { title: 'published', cell: ({ cpuPct }) => `${cpuPct} %` },
        { title: 'predicted', cell: ({ predictedPct }) => `${predictedPct.toFixed(1)} %` },
        {
          title: 'off',
          cell: ({ errorPct, anchor }) =>
            anchor ? 'anchor' : `${errorPct > 0 ? '+' : ''}${errorPct.toFixed(1)} %`,
        },
      ],
      rows,
      120,
    ),
    `${within} of ${judged.length} within 15 %`,
  ]
}

await repositoryScript({
  usage,
  options: {
    calibration: { type: 'string' },
    python: { type: 'string', default: 'python3' },
    published: { type: 'boolean', default: false },
  },
  work: async ({ calibration, python, published }) => {
    const documents = calibration
      ? calibration.split(',').map((/** @type {string} */ path) => readCalibration(path))
      : [
          (
            await calibrate(
              {
                ...{
                  strategies: ['sorted-set', 'list', 'actual-value'],
                  files: {},
                  where: null,
                  seed: 1,
                  cells: 12,
                  proofs: 6,
                },
                ...{ limitS: 12, windowS: 3, most: {}, out: mkdtempSync(join(tmpdir(), 'millrace-plan-')) },
              },
              screenSay,
              new AbortController().signal,
            )
          ).document,
        ]
    const models = documents.flatMap((/** @type {any} */ document) => document.models)
    const parts = [
      ...(published ? [] : [await sideBySide(models, documents[0].server.allocator, python)]),
      await publishedTable(models),
    ]
    process.stdout.write(`${parts.map((lines) => lines.join('\n')).join('\n\n')}\n`)
    return ExitCode.done
  },
})
