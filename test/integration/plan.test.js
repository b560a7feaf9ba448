// `millrace calibrate` and `millrace plan` as a user starts them: a small calibration on local servers, and plans by it.
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import { calibration as calibrationKit, readCalibration } from '../../lib/answers/plan/calibration.js'
import { plan as planKit } from '../../lib/answers/plan/report.js'
import { faultIn } from '../../lib/base/json-schema.js'
import { runCommand } from '../helpers/command-here.js'
import { ownFolder } from '../helpers/programs.js'
import { suiteScope } from '../helpers/servers.js'

/** @import { Scope } from '../helpers/servers.js' */

/** @param {Scope} t @param {string} line */
const millrace = (t, line) => runCommand(t, line, { out: false })

describe('a calibration, and plans by it', { concurrency: 3 }, () => {
  /** @type {string} */
  let path
  /** @type {any} */
  let calibration

  const scope = suiteScope()
  const root = ownFolder(scope, 'plan')
  before(async () => {
    const { code, stdout, stderr } = await millrace(
      scope,
      `calibrate --strategy list --cells 6+1 --seconds 1 --time 1s --items 20k --value-size 1kB --json --out ${root}`,
    )
    assert.equal(code, 0, stderr)
    calibration = JSON.parse(stdout)
    path = join(String(/--calibration (\S+)/.exec(stderr)?.[1]), 'calibration.json')
  })

  test('it is whole, as its schema says, and was predicted before it was measured', () => {
    assert.equal(faultIn(calibration, calibrationKit.schema), null)
    assert.equal(calibration.complete, true)
    assert.deepEqual(JSON.parse(readFileSync(path, 'utf8')), calibration)
    const [{ cells, proof }] = calibration.models
    assert.deepEqual([cells.length, proof.length], [6, 1])
    // A command that is half received when a cell of a second ends has bytes and no items; half of the cells have none.
    const off = [...cells, ...proof]
      .map(({ amounts, measured }) => Math.abs(measured.net_bytes / (amounts.bytesIn + amounts.bytesOut) - 1))
      .sort((a, b) => a - b)
    assert.ok(off[3] < 0.02 && off[6] < 0.25, `${off}`)
  })

  test('a plan as text and JSON: the answer first, and what its schema says', async (t) => {
    const text = await millrace(t, `plan --rate 50k --value-size 100B --ttl 1s --calibration ${path}`)
    assert.equal(text.code, 0, text.stderr)
    assert.match(
      text.stdout,
      /^list on \d+ x cache\.r\S+, [\d.]+ % of the busiest main thread, \$ [\d,.]+ a month\./,
    )
    const more = await millrace(t, `plan --rate 5k --items 2M --value-size 100B --calibration ${path}`)
    assert.equal(more.code, 0, more.stderr)
    assert.match(
      more.stdout,
      /^list on [^!]+\n\n! list: outside the calibrated range: 2,000,000 items; calibrated: 1,000 to 20,000\n\nasked /,
    )
    const page = join(ownFolder(t, 'plan-page'), 'plan.html')
    const { code, stdout } = await millrace(
      t,
      `plan --rate 50k --value-size 100B --ttl 1s --replicas 1 --survive node --growth 5%/month --nodes cache.r7g.* --json --draw ${page} --calibration ${path}`,
    )
    assert.equal(code, 0)
    const plan = JSON.parse(stdout)
    assert.equal(faultIn(plan, planKit.schema), null)
    assert.equal(plan.models[0].candidates.length, 7)
    assert.match(readFileSync(page, 'utf8'), /Predicted against measured/)
  })

  test('what cannot be planned: one line, and what to change', async (t) => {
    const damaged = (/** @type {string} */ name, /** @type {string} */ text) => {
      const file = join(ownFolder(t, 'damaged'), name)
      writeFileSync(file, text)
      return file
    }
    const whole = JSON.stringify(calibration)
    const cut = damaged('cut.json', whole.slice(0, 2000))
    const notANumber = damaged('nan.json', whole.replace(/"spread":[\d.]+/, '"spread":NaN'))
    const noNumber = damaged('null.json', whole.replace(/"spread":[\d.]+/, '"spread":null'))
    const later = damaged('later.json', whole.replace('"schema":1', '"schema":2'))
    const { version } = calibration.server
    for (const [file, words, wanted] of /** @type {const} */ ([
      [cut, /is incomplete, or not JSON/],
      [notANumber, /is incomplete, or not JSON/],
      [noNumber, /is damaged: 'models\.0\.cpu\.master\.spread' must be number/],
      [later, /has schema 2, and this version reads 1/],
      [path, RegExp(`is of server ${version}, and --server-version is 99\\.1`), { serverVersion: '99.1' }],
    ]))
      assert.throws(() => readCalibration(file, wanted), words)
    const refused = /** @type {const} */ ([
      [`--rate 0 --calibration ${path}`, 2, /--rate 0: must be items a second/],
      [`--rate 1000000M --calibration ${path}`, 2, /items at once/],
      [
        `--rate 5k --growth 5 --calibration ${path}`,
        2,
        /--growth 5: must be a percentage .* a month or a year/,
      ],
      [
        `--rate 5k --value-size 10kB --calibration ${path}`,
        2,
        /too far beyond what was calibrated \(1000\): millrace calibrate --value-size 10000/,
      ],
      [`--rate 5k --strategy stream --calibration ${path}`, 2, /--strategy stream: \S+ has list/],
      [`--rate 5k --server-version 99.1 --calibration ${path}`, 3, /calibrate on that version/],
    ])
    const refusals = await Promise.all(refused.map(([line]) => millrace(t, `plan ${line}`)))
    for (const [i, { code, stderr }] of refusals.entries()) {
      assert.equal(code, refused[i][1], stderr)
      assert.match(stderr, refused[i][2])
      assert.equal(stderr.trim().split('\n').length, 1)
    }
  })
})
