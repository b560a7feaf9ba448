// How many members a command may have where a server reads 1,048,576 arguments at most.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { plansOnTarget } from '../../lib/run/facts.js'
import { settingsOf } from '../helpers/sample-plan.js'

const factsFor = (/** @type {string} */ line, majorVersion = 6) => {
  const known = { kind: 'single', address: '127.0.0.1:6379', versions: ['6.2.14'], majorVersion }
  const target = { ...known, topology: { masters: [known.address], owners: null }, nodes: () => [] }
  return plansOnTarget(settingsOf(line), /** @type {any} */ (target))
}

const taken = `
-q 524287 --max-members 0 | -q 1048574 -c 2 --max-members 0 | -q 1000000 -t 2 --max-members 0
-q 2000000 -t 4 -a 1-2 --max-members 0 | -q 1048574 --ns 2 --max-members 0 | -q 1048574 --sl --max-members 0
-q 1048574 --ss --max-members 0 | -q 5000000 --sk --max-members 0 | -q 5000000 --strategy stream --max-members 0
-q 5000000 --max-members 524287 | -q 5000000 | -q 524285 --ws | -q 5000000 --ws --max-members 524285
`
for (const line of taken.trim().split(/ \| |\n/))
  test(`${line}: taken`, () => assert.doesNotReject(factsFor(line)))

for (const [line, flag, members, most] of /** @type {[string, string, string, string][]} */ ([
  ['-q 524288 --max-members 0', '--max-members 0', '524,288', '524,287'],
  ['-q 524288 --strategy hash --max-members 0', '--max-members 0', '524,288', '524,287'],
  ['-q 524288 --ns 2 --with extra-sorted-sets=1 --max-members 0', '--max-members 0', '524,288', '524,287'],
  ['-q 1048577 -t 2 --max-members 0', '--max-members 0', '524,289', '524,287'],
  ['-q 1048575 --ns 2 --max-members 0', '--max-members 0', '524,288', '524,287'],
  ['-q 1048575 --sl --max-members 0', '--max-members 0', '1,048,575', '1,048,574'],
  ['-q 5000000 --max-members 524288', '--max-members 524288', '524,288', '524,287'],
  ['-q 524286 --ws', '--ws', '524,286', '524,285'],
  ['-q 524286 --ws --spread', '--ws', '524,286', '524,285'],
]))
  test(`${line}: refused`, async () => {
    const message = `${flag}: a command would have ${members} members, and on 127.0.0.1:6379 (6.2.14), which reads 1,048,576 arguments, it may have ${most} at most; cut it with --max-members, or raise -c`
    await assert.rejects(factsFor(line), { name: 'OptionError', message })
    await factsFor(line, 7)
  })
