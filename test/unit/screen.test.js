import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { hasColor, isLive, logTo } from '../../lib/cli/log.js'
import { screenOf } from '../../lib/cli/screen.js'
import { resultDocument } from '../../lib/result/document.js'
import { ownFolder } from '../helpers/programs.js'
import { sampleParts } from '../helpers/sample-run.js'

/** A screen and what it has printed. @param {object} [terminal] what streams are beside @param {boolean} [verbose] @returns {any} */
const shownOn = (terminal = {}, verbose = false) => {
  const streams = [new PassThrough(), new PassThrough()].map((stream) => Object.assign(stream, terminal))
  const [stdout, stderr] = /** @type {any[]} */ (streams)
  const screen = screenOf({ logLevel: 'info', quiet: false, json: false, verbose }, { stdout, stderr }, {})
  return { screen, printed: () => [stderr, stdout].map((stream) => String(stream.read() ?? '')) }
}

/** What a person sees at the start. @param {{ encodeMs: number, encodedBytes: number }} ready */
const seen = (ready) => {
  const { screen, printed } = shownOn()
  screen.progress.onReady(ready)
  screen.done()
  const [log, text] = printed()
  assert.equal(text, '')
  return log
}

test('commands that took long to prepare are said, with how long it took', () => {
  assert.match(seen({ encodeMs: 1234, encodedBytes: 25_600_000 }), /25\.6 MB of commands prepared in 1\.2 s/)
  assert.equal(seen({ encodeMs: 900, encodedBytes: 25_600_000 }), '')
})

test('commands that are encoded as they are sent are not said to be', () =>
  assert.equal(seen({ encodeMs: 0, encodedBytes: 0 }), ''))

test('without a terminal a warning is printed once: as it comes, or in the result', () => {
  for (const [isTTY, early] of /** @type {const} */ ([
    [false, [1, 0]],
    [true, [1, 1]],
  ])) {
    const { screen, printed } = shownOn({ isTTY }, true)
    screen.warn({ code: 'clock', message: 'noticed early', invalidates: false })
    screen.remark({ code: 'reconnects', message: 'noticed late', invalidates: false })
    const run = resultDocument({ ...sampleParts(), warnings: screen.warnings })
    screen.result(run, { folder: 'results/a', fault: () => null })
    const texts = printed()
    const times = (/** @type {string} */ word) =>
      texts.map((/** @type {string} */ all) => all.split(word).length - 1)
    assert.deepEqual([times('noticed early'), times('noticed late')], [early, [0, 1]])
  }
})

test('what could not be stored is the first line, with what makes run.json of the rest', (t) => {
  const folder = ownFolder(t, 'screen')
  const first = () => {
    const { screen, printed } = shownOn({ columns: 400 })
    screen.result(resultDocument(sampleParts()), { folder, fault: () => new Error('the disk is full') })
    return printed()[1].split('\n')[0]
  }
  const said = 'NOT STORED: the disk is full'
  assert.equal(first(), said)
  writeFileSync(join(folder, 'facts.json'), '{}')
  const again = `when there is room, 'millrace report ${folder}' makes run.json of what was stored`
  assert.equal(first(), `${said}; ${again}`)
})

test('colour is by NO_COLOR and FORCE_COLOR, else on a terminal; lines move on a terminal that is no CI', () => {
  const [tty, file] = [{ isTTY: true }, { isTTY: false }]
  for (const [stream, env, color, live] of /** @type {const} */ ([
    [tty, {}, true, true],
    [tty, { NO_COLOR: '1' }, false, true],
    [tty, { NO_COLOR: '' }, true, true],
    [tty, { TERM: 'dumb' }, false, false],
    [tty, { CI: 'true' }, true, false],
    [file, {}, false, false],
    [file, { FORCE_COLOR: '1' }, true, false],
    [tty, { FORCE_COLOR: '0' }, false, true],
  ]))
    assert.deepEqual([hasColor(stream, env), isLive(stream, env)], [color, live], JSON.stringify(env))
})

test('the log is plain lines, and JSON where that is asked for', () => {
  const logged = (/** @type {'text' | 'json'} */ log) => {
    /** @type {string[]} */
    const lines = []
    const logger = logTo({ level: 'info', log, stream: { write: (line) => void lines.push(line) } })
    logger.info('began')
    logger.warn({ code: 'clock' }, 'late')
    return lines
  }
  assert.deepEqual(logged('text'), ['· began\n', '! late\n'])
  const [first, second] = logged('json').map((line) => JSON.parse(line))
  assert.deepEqual([first.msg, second.msg, second.code], ['began', 'late', 'clock'])
})

test('--quiet prints the result and warnings, and nothing else', () => {
  const streams = [new PassThrough(), new PassThrough()]
  const [stdout, stderr] = /** @type {any[]} */ (streams)
  const screen = screenOf({ logLevel: 'info', quiet: true, json: false }, { stdout, stderr })
  screen.say('a step')
  screen.warn({ code: 'clock', message: 'late', invalidates: false })
  screen.result(resultDocument(sampleParts()), { folder: 'results/a', fault: () => null })
  assert.equal(String(stderr.read()), '! late\n')
  assert.match(String(stdout.read()), /^✓ VALID {2}sorted-set/)
})
