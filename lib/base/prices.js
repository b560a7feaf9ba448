// Sizes and prices of nodes and serverless caches: a dated file for each region, or AWS's bulk list. A type whose price is
// not known has none.
import { readdirSync, readFileSync } from 'node:fs'
import { OptionError } from './errors.js'
import { plainText } from './units.js'

/**
 * @typedef {object} NodeType
 * @property {string} name
 * @property {number} memoryGib
 * @property {number | null} networkMbit what it may always send, and receive; null: not known, and no limit
 * @property {number | null} hour price; null: not known
 *
 * @typedef {{ engine: string, millionEcpu: number, gbHour: number, leastGb: number }} ServerlessPrice
 *
 * @typedef {object} Prices
 * @property {string} region
 * @property {string} currency
 * @property {{ engine: string, dated: string, source: string, types: NodeType[] }} nodes
 * @property {{ dated: string, source: string, engines: ServerlessPrice[] } | null} serverless
 */

const hoursAYear = 8760
const oldDays = 180
const folder = new URL('prices/', import.meta.url)

const regions = () => readdirSync(folder).map((name) => name.replace(/\.json$/, ''))

/** @param {string} region @returns {Prices} */
export const pricesOf = (region) => {
  if (!regions().includes(region))
    throw new OptionError(
      `--region ${plainText(region).slice(0, 40)}: prices are known for ${regions().join(', ')}; for others give AWS's price list with --prices`,
    )
  const { nodes, serverless, ...about } = JSON.parse(readFileSync(new URL(`${region}.json`, folder), 'utf8'))
  return {
    ...about,
    nodes: {
      ...nodes,
      types: nodes.types.map(
        (
          /** @type {[string, number, number | null, number | null]} */ [
            name,
            memoryGib,
            networkMbit,
            usdYear,
          ],
        ) => ({ name, memoryGib, networkMbit, hour: usdYear === null ? null : usdYear / hoursAYear }),
      ),
    },
    serverless: serverless && {
      ...serverless,
      engines: serverless.engines.map(
        (/** @type {[string, number, number, number]} */ [engine, millionEcpu, gbHour, leastGb]) => ({
          engine,
          millionEcpu,
          gbHour,
          leastGb,
        }),
      ),
    },
  }
}

// Other SKUs of a type and engine, such as SyncDurability-NodeUsage, are charged in addition to a node.
const ofNode = /^(?:[A-Z]{2,4}\d?-)?NodeUsage:(cache\.[\w.]+)$/

/** The price of an hour on demand. @param {any} terms @param {string} sku @returns {{ currency: string, hour: number } | null} */
const hourOf = (terms, sku) => {
  for (const term of Object.values(terms?.OnDemand?.[sku] ?? {}))
    for (const { unit, pricePerUnit } of Object.values(Object(term).priceDimensions ?? {})) {
      const [[currency, text] = []] = Object.entries(pricePerUnit ?? {})
      if (/^hrs$/i.test(unit) && Number(text) > 0) return { currency: String(currency), hour: Number(text) }
    }
  return null
}

/**
 * AWS's bulk price list of ElastiCache. It has no baseline bandwidth, which comes from our own file, by type.
 * @param {string} text
 * @param {string} path
 * @param {{ region: string, engine: string }} wanted
 * @returns {Prices}
 */
export const bulkPrices = (text, path, { region, engine }) => {
  const where = `--prices ${plainText(path)}`
  const list = (() => {
    try {
      return JSON.parse(text)
    } catch (cause) {
      throw new OptionError(`${where} is not JSON`, { cause })
    }
  })()
  const { offerCode, publicationDate, products, terms } = list ?? {}
  if (offerCode !== 'AmazonElastiCache' || typeof products !== 'object' || !Date.parse(publicationDate))
    throw new OptionError(`${where} is not a price list of ElastiCache (offerCode AmazonElastiCache)`)
  const known = new Map(
    regions()
      .flatMap((name) => pricesOf(name).nodes.types)
      .map(({ name, networkMbit }) => [name, networkMbit]),
  )
  /** @type {NodeType[]} */
  const types = []
  let currency = 'USD'
  for (const [sku, { attributes }] of Object.entries(products)) {
    const { usagetype = '', cacheEngine, regionCode, memory } = attributes ?? {}
    const [, name] = ofNode.exec(usagetype) ?? []
    const price = hourOf(terms, sku)
    const memoryGib = Number.parseFloat(String(memory))
    if (!name || cacheEngine !== engine || regionCode !== region || price === null || !(memoryGib > 0))
      continue
    currency = price.currency
    types.push({ name, memoryGib, networkMbit: known.get(name) ?? null, hour: price.hour })
  }
  if (types.length === 0)
    throw new OptionError(`${where}: no node of ${engine} in ${plainText(region)} has a price`)
  return {
    region,
    currency,
    nodes: { engine, dated: publicationDate.slice(0, 10), source: "AWS's price list", types },
    serverless: null,
  }
}

/** Prices older than recommended. @param {Prices} prices @param {number} nowMs */
export const oldPrices = ({ nodes, serverless }, nowMs) =>
  [nodes, ...(serverless ? [serverless] : [])].flatMap(({ dated, source }) => {
    const days = Math.floor((nowMs - Date.parse(dated)) / 86_400_000)
    return days > oldDays ? [`prices of ${dated} are ${days} days old (${source})`] : []
  })

/** @param {readonly NodeType[]} types @param {string} pattern `cache.r7g.*` */
export const typesLike = (types, pattern) => {
  const parts = pattern.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'))
  const shape = new RegExp(`^${parts.join('.*')}$`)
  const found = types.filter(({ name }) => shape.test(name))
  if (found.length === 0)
    throw new OptionError(
      `--nodes ${plainText(pattern).slice(0, 60)}: no node has that name; the known ones are ${types.map(({ name }) => name).join(', ')}`,
    )
  return found
}
