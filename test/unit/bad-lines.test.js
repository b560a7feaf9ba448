import assert from 'node:assert/strict'
import test from 'node:test'
import { badInputs, onlyLine, refusalOf } from '../helpers/bad-lines.js'

for (const { program, input, names } of badInputs)
  test(`${program}: ${JSON.stringify(input)}`, () =>
    assert.match(onlyLine(`${refusalOf(program, input)}\n`), names))
