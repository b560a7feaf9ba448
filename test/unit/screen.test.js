import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { screenOf } from '../../lib/cli/screen.js'
import { resultDocument } from '../../lib/result/document.js'
import { sampleParts } from '../helpers/sample-run.js'

/** What a person sees at the start. @param {(progress: ReturnType<typeof screenOf>['progress']) => void} start */
const seen = (start) => {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const streams = /** @type {any} */ ({ stdout, stderr })
  const screen = screenOf({ logLevel: 'info', quiet: false, json: false }, streams)
  start(screen.progress)
  screen.done()
  assert.equal(stdout.read(), null)
  return String(stderr.read() ?? '')
}

test('what was encoded at the start is said, with how long it took', () => {
  const text = seen(({ onReady }) => onReady({ encodeMs: 1234, encodedBytes: 25_600_000 }))
  assert.match(text, /encoded 25\.6 MB of commands in 1\.2 s/)
})

test('commands that are encoded as they are sent are not said to be', () =>
  assert.equal(
    seen(({ onReady }) => onReady({ encodeMs: 0, encodedBytes: 0 })),
    '',
  ))

test('without a terminal a warning is printed once: as it comes, or in the result', () => {
  const printed = (/** @type {boolean} */ isTTY) => {
    const [stdout, stderr] = [new PassThrough(), Object.assign(new PassThrough(), { isTTY })]
    const screen = screenOf(
      { logLevel: 'info', quiet: false, json: false },
      /** @type {any} */ ({ stdout, stderr }),
    )
    screen.warn({ code: 'clock', message: 'noticed early', invalidates: false })
    screen.remark({ code: 'reconnects', message: 'noticed late', invalidates: false })
    screen.result(resultDocument({ ...sampleParts(), warnings: screen.warnings }), {
      folder: 'results/a',
      fault: () => null,
    })
    const [log, text] = [stderr, stdout].map((stream) => String(stream.read() ?? ''))
    return ['early', 'late'].map((when) => [log, text].map((all) => all.split(`noticed ${when}`).length - 1))
  }
  assert.deepEqual(printed(false), [
    [1, 0],
    [0, 1],
  ])
  assert.deepEqual(printed(true), [
    [1, 1],
    [0, 1],
  ])
})

test('what could not be stored is the first line, with what makes run.json of the rest', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-screen-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const printed = () => {
    const [stdout, stderr] = [new PassThrough(), new PassThrough()]
    const screen = screenOf(
      { logLevel: 'info', quiet: false, json: false },
      /** @type {any} */ ({ stdout: Object.assign(stdout, { columns: 400 }), stderr }),
    )
    screen.result(resultDocument(sampleParts()), {
      folder,
      fault: () => /** @type {any} */ (new Error('the disk is full')),
    })
    return String(stdout.read()).split('\n')[0]
  }
  assert.equal(printed(), 'NOT STORED: the disk is full')
  writeFileSync(join(folder, 'facts.json'), '{}')
  assert.equal(
    printed(),
    `NOT STORED: the disk is full; when there is room, 'millrace report ${folder}' makes run.json of what was stored`,
  )
})
