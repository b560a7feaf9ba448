// A line of progress beside the answer.
import { terminalText } from './log.js'

/** @param {string} line */
export const screenSay = (line) => process.stderr.write(`${terminalText(line, process.stderr)}\n`)
