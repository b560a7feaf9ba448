import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exitCodeOf } from '../../lib/cli/ending.js'

const passed = { threshold: 'x<1', name: 'x', value: 1, passed: true }
const failed = { ...passed, passed: false }
const unknown = { ...failed, value: null }

/** @type {[what: string, document: Parameters<typeof exitCodeOf>[0], code: number][]} */
const cases = [
  ['done and valid', { valid: true, interrupted: false }, 0],
  ['every threshold passed', { valid: true, interrupted: false, thresholds: [passed, passed] }, 0],
  ['one of several failed', { valid: true, interrupted: false, thresholds: [passed, failed] }, 99],
  ['one that was not measured', { valid: true, interrupted: false, thresholds: [passed, unknown] }, 98],
  ['one not measured, one failed', { valid: true, interrupted: false, thresholds: [unknown, failed] }, 99],
  ['not valid', { valid: false, interrupted: false }, 4],
  ['not valid, and a threshold failed', { valid: false, interrupted: false, thresholds: [failed] }, 4],
  ['interrupted', { valid: false, interrupted: true, thresholds: [failed] }, 130],
]
for (const [what, document, code] of cases)
  test(`exit code ${code}: ${what}`, () => assert.equal(exitCodeOf(document), code))
