// `millrace find --over memory` as a user starts it: an answer that holds, a limit that no memory meets, and lines that are refused.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { Ajv } from 'ajv'
import { runCommand } from '../helpers/command-here.js'
import { codesIn } from '../helpers/programs.js'

const schema = JSON.parse(readFileSync('docs/schemas/find-memory.schema.json', 'utf8'))
const line =
  'find cache-aside --keys 5k --popularity zipf:0.99 --value-size 1kB --connections 10 --pipeline 4 --over memory'

/** An answer that is as its schema says. @param {string} text */
const foundIn = (text) => {
  const ajv = new Ajv({ allowUnionTypes: true })
  assert.ok(ajv.validate(schema, JSON.parse(text)), ajv.errorsText())
  return JSON.parse(text)
}

describe('the least memory of a cache', { concurrency: 1 }, () => {
  test('is found, with runs on both sides', async (t) => {
    const search = async () => {
      const ended = await runCommand(t, `${line} --rate 1k --slo hit_rate>80% --time 60s --json`)
      return { ...ended, found: foundIn(ended.stdout) }
    }
    // A machine that stood still in a run had not its rate.
    const isSlowed = (/** @type {any} */ found) => codesIn(found).includes('rate')
    let { code, stderr, found } = await search()
    for (let again = 0; again < 2 && isSlowed(found); again++) ({ code, stderr, found } = await search())
    assert.equal(code, 0, `${found.sentence}\n${stderr}`)
    const { low, middle, high } = found.find
    assert.ok(low <= middle && middle <= high && high / low < 1.6, JSON.stringify(found.find))
    assert.ok(low > 2e6 && high < 9e6)
    assert.equal(found.trials.length, 9)
    assert.ok(found.trials.some((/** @type {any} */ { passed }) => passed))
    assert.match(found.sentence, /^[\d.]+ MB \(95 % sure between .*\): less fails hit_rate>80%$/)
  })

  test('no memory meets a limit above the most that can be hits; the text ends with the thresholds', async (t) => {
    const { code, stdout, stderr, folder } = await runCommand(
      t,
      `${line} --rate 1k --ttl 1s --slo hit_rate>99% --time 60s --threshold find.high<1GB`,
    )
    assert.equal(code, 4, stderr)
    const found = foundIn(readFileSync(join(folder, 'find.json'), 'utf8'))
    assert.equal(found.state, 'none')
    assert.equal(found.trials.length, 1)
    assert.match(found.sentence, /^no memory meets hit_rate>99%: with room for all keys .* are hits at most/)
    assert.match(stdout, /\nFAILED: find\.high<1GB\n$/)
  })
})
