// Waits for a server that is loading its data: it answers INFO and little else.
import { setTimeout as sleep } from 'node:timers/promises'
import { TargetError } from '../base/errors.js'
import { period } from '../base/units.js'
import { parseInfo } from '../wire/info.js'

/** @import { Redis } from 'ioredis' */

const pollMs = 200
// A server whose progress stops for this long will not finish.
const stillLimitMs = 60_000

/** The progress in INFO, where it is plausible. @param {Record<string, string>} fields */
const progressWords = ({ loading_loaded_perc: percent, loading_eta_seconds: etaS }) => {
  const words = []
  if (Number(percent) >= 0) words.push(`${Math.round(Number(percent))} %`)
  if (Number(etaS) > 0) words.push(`about ${period(Number(etaS) * 1000)} to go`)
  return words.length > 0 ? ` (${words.join(', ')})` : ''
}

/**
 * Resolves when the server has its data.
 * @param {Pick<Redis, 'call'>} client
 * @param {string} address
 * @param {{ say: (line: string) => void, clock?: () => number }} options called once, when it begins to wait
 */
export const loaded = async (client, address, { say, clock = () => performance.now() }) => {
  let said = false
  let bytes = ''
  let changedMs = clock()
  for (;;) {
    const { fields } = parseInfo(String(await client.call('INFO', 'persistence')))
    if (fields.loading !== '1') return
    if (!said) say(`${address} is loading its data${progressWords(fields)}: waiting for it`)
    said = true
    if (fields.loading_loaded_bytes !== bytes) {
      bytes = fields.loading_loaded_bytes
      changedMs = clock()
    } else if (clock() - changedMs > stillLimitMs)
      throw new TargetError(
        `${address} has been loading its data for ${period(stillLimitMs)} without getting on; look at its log`,
      )
    await sleep(pollMs)
  }
}
