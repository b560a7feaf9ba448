// Times that are drawn: fixed, each as likely between two, or exponential.
import { scaled } from '../base/scaled.js'

const usUnits = new Map([
  ['us', 1],
  ['ms', 1e3],
  ['s', 1e6],
])
const mostMs = 60_000

/** @param {string} text */
const msIn = (text) => {
  const us = scaled(text, usUnits)
  return us !== undefined && us <= mostMs * 1000 ? us / 1000 : undefined
}

/**
 * `5ms`, `2ms-20ms`, `exp:5ms`; undefined where it is none of these.
 * @param {string} text
 * @returns {{ meanMs: number, draw: (random: () => number) => number } | undefined}
 */
export const timesIn = (text) => {
  const mean = msIn(/^exp:(.+)$/.exec(text)?.[1] ?? '')
  if (mean !== undefined) return { meanMs: mean, draw: (random) => -mean * Math.log(1 - random()) }
  const [least, most = least, ...more] = text.split('-').map(msIn)
  if (least === undefined || most === undefined || more.length > 0 || most < least) return
  return { meanMs: (least + most) / 2, draw: (random) => least + (most - least) * random() }
}
