// `millrace plan` for a cache: no server is needed, since the requests follow from their seed.
import { cacheNeeds, cachePlan } from '../answers/plan/cache-answer.js'
import { stringBytes } from '../answers/plan/memory.js'
import { ExitCode, InterruptedError, OptionError } from '../base/errors.js'
import { typesLike } from '../base/prices.js'
import { countUnits, scaled } from '../base/scaled.js'
import { exactly } from '../base/typed.js'
import { plainText } from '../base/units.js'
import { drawnCurve, tooLongLived } from '../run/cache-curve.js'
import { allocated } from '../traffic/sizes.js'
import { strategyOf } from '../workloads/bound-strategy.js'
import { printAnswer } from './answer.js'
import { plannedRun } from './calibration.js'

/**
 * @import { Typed } from '../options/command-line.js'
 * @import { Prices } from '../base/prices.js'
 * @import { Values } from '../options/values.js'
 */

const usual = [90, 95, 99]
const policies = /^policy=(allkeys-(lru|lfu|random)|volatile-(lru|lfu|random|ttl))$/

/** @param {readonly string[]} words behind the strategy */
const policyIn = ([word = 'policy=allkeys-lru', ...more]) => {
  const [, policy] = policies.exec(word) ?? []
  if (policy === undefined || more.length > 0)
    throw new OptionError(
      'behind the strategy only policy=NAME is known, one that evicts: policy=allkeys-lfu',
    )
  return policy
}

/** @param {string | undefined} text */
const wantedIn = (text) => {
  if (text === undefined) return usual
  const pct = Number(/^(\d+(?:\.\d+)?)\s*%$/.exec(text)?.[1])
  if (!(pct > 0 && pct <= 100))
    throw new OptionError(`--hit-rate ${plainText(text).slice(0, 40)}: must be a percentage, as in 95%`)
  return [pct, ...usual.filter((one) => one !== pct)]
}

/** @param {{ values: Values, typed: Typed, prices: Prices, strategy: string, stop: AbortSignal }} asked */
export const planCache = async ({ values, typed, prices, strategy, stop }) => {
  const { peak, items: keys, popularity, valueSize, replicasEach: replicas, hitRate } = values
  const policy = policyIn(typed.words.slice(1))
  const rate = scaled(String(peak ?? ''), countUnits)
  if (rate === undefined) throw new OptionError('--rate is missing: requests a second, as in --rate 50k')
  if (keys === undefined)
    throw new OptionError('--items is missing: how many keys there are, as in --items 10M')
  const wanted = wantedIn(hitRate)
  const ttl = typed.options.get('ttl')
  if (policy.startsWith('volatile-') && ttl === undefined)
    throw new OptionError(`policy=${policy} evicts only keys with a lifetime: add --ttl`)
  const plan = plannedRun(
    { strategy, items: keys, valueSize, popularity, rate: Math.round(rate), ...(ttl && { ttl }) },
    null,
  )
  const tooLong = tooLongLived(plan, policy)
  if (tooLong !== null) throw new OptionError(tooLong)
  const { declared, planFields } = strategyOf(plan)
  if ([declared.keys(planFields).key].flat()[0].type !== 'string')
    throw new OptionError(`${strategy}: keys that hold several values are evicted together; take cache-aside`)
  const { valueBytes } = plan
  const lengths = { key: `cache:${keys}`.length, value: valueBytes, keys, expires: ttl !== undefined }
  const overhead = stringBytes('jemalloc-8', lengths) - allocated(valueBytes + 6)
  const curve = await drawnCurve(plan, { policy, overhead, stopNow: stop })
  if (!curve) throw new InterruptedError()
  const { points, ceiling_pct, footprint_bytes } = curve
  const types = typesLike(prices.nodes.types, values.nodes)
  const answer = {
    schema: exactly(1),
    kind: exactly('plan-cache'),
    strategy,
    policy,
    keys,
    rate,
    replicas,
    overhead_bytes: overhead,
    ceiling_pct,
    footprint_bytes,
    currency: prices.currency,
    prices: `prices of ${prices.nodes.dated}, ${prices.region}, of nodes that are not durable`,
    needs: cacheNeeds(points, { ceiling_pct, footprint_bytes, replicas }, wanted, types),
  }
  printAnswer(answer, values.json, cachePlan.text)
  return answer.needs[0].memory_bytes === null ? ExitCode.invalid : ExitCode.done
}
