// Loaded into a program before its own code: its clock differs from the machine's by the milliseconds in the file that
// TEST_CLOCK_FILE names, which a test may change while the program runs.
import { readFileSync } from 'node:fs'

const machine = Date.now
let aheadMs = 0
let lookedMs = Number.NEGATIVE_INFINITY
Date.now = () => {
  if (performance.now() - lookedMs > 20) {
    lookedMs = performance.now()
    aheadMs = Number(readFileSync(String(process.env.TEST_CLOCK_FILE), 'utf8'))
  }
  return machine() + aheadMs
}
