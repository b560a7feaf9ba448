import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { screenOf } from '../../lib/cli/screen.js'

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
  const text = seen(({ onReady }) => onReady({ encodeMs: 1234, tapeBytes: 25_600_000 }))
  assert.match(text, /encoded 25\.6 MB of commands in 1\.2 s/)
})

test('commands that are encoded as they are sent are not said to be', () =>
  assert.equal(
    seen(({ onReady }) => onReady({ encodeMs: 0, tapeBytes: 0 })),
    '',
  ))
