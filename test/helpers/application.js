// Small applications that know nothing of Millrace: `node application.js NAME PORT [RATE]` fills what it keeps, prints
// 'ready', and serves requests at a rate until it is killed.
import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'

const [name, port, rate = '1000'] = process.argv.slice(2)
const below = (/** @type {number} */ n) => Math.floor(Math.random() * n)
const text = (/** @type {number} */ length) =>
  randomBytes(Math.ceil(length / 2))
    .toString('hex')
    .slice(0, length)

/** Item n of many, as often as n^-0.99. @param {number} count */
const zipf = (count) => {
  const sums = new Float64Array(count)
  for (let n = 0, sum = 0; n < count; n++) {
    sum += (n + 1) ** -0.99
    sums[n] = sum
  }
  const all = sums[count - 1]
  const shareOf = (/** @type {number} */ n) => (n + 1) ** -0.99 / all
  const next = () => {
    const at = Math.random() * all
    let [low, high] = [0, count - 1]
    while (low < high) {
      const middle = (low + high) >> 1
      if (sums[middle] < at) low = middle + 1
      else high = middle
    }
    return low
  }
  return { next, shareOf }
}

/** @type {Record<string, (redis: Redis) => Promise<() => Promise<unknown>>>} */
const applications = {
  /** Sessions, read at every request and begun by one of twenty: as many begin as end. */
  'session-store': async (redis) => {
    const ids = Array.from({ length: 2000 }, () => randomUUID())
    const life = Math.round(ids.length / (0.05 * Number(rate)))
    const begin = (/** @type {string} */ id, /** @type {number} */ left) =>
      redis.setex(`session:${id}`, left, text(100 + below(300)))
    await Promise.all(ids.map((id, i) => begin(id, Math.ceil(((i + 1) * life) / ids.length))))
    return async () => {
      if (Math.random() < 0.05) {
        const id = randomUUID()
        ids.shift()
        ids.push(id)
        await begin(id, life)
      } else await redis.get(`session:${ids[below(ids.length)]}`)
    }
  },
  /** A hash for each cart, whose items are changed and shown. */
  cart: async (redis) => {
    const carts = 1500
    for (let cart = 1; cart <= carts; cart++)
      await redis.hset(
        `cart:${cart}:items`,
        Object.fromEntries(Array.from({ length: 1 + (cart % 9) }, (_, i) => [`sku-${i + 1}`, text(24)])),
      )
    return async () => {
      const cart = 1 + below(carts)
      if (Math.random() < 0.3)
        await redis.hset(`cart:${cart}:items`, `sku-${1 + below(1 + (cart % 9))}`, text(24))
      else await redis.hgetall(`cart:${cart}:items`)
    }
  },
  /** One sorted set: scores grow, and the best ten are shown. */
  leaderboard: async (redis) => {
    const players = 5000
    for (let from = 0; from < players; from += 500)
      await redis.zadd(
        'board:global',
        ...Array.from({ length: 500 }, (_, i) => [below(1e6), `player:${1e5 + from + i}`]).flat(),
      )
    return async () => {
      const player = `player:${1e5 + below(players)}`
      const dice = Math.random()
      if (dice < 0.5) await redis.zadd('board:global', below(1e6), player)
      else if (dice < 0.8) await redis.zrevrank('board:global', player)
      else await redis.zrevrange('board:global', 0, 9, 'WITHSCORES')
    }
  },
  /** A list of jobs, taken as fast as they come. */
  queue: async (redis) => {
    for (let i = 0; i < 500; i++) await redis.rpush('jobs:mail', text(200))
    return async () => {
      await redis.rpush('jobs:mail', text(200))
      await redis.lpop('jobs:mail')
    }
  },
  /** Pages that live for 20 s, of which some are asked for much more often than others; at the start as after a long time. */
  'page-cache': async (redis) => {
    const lifeS = 20
    const pages = 20_000
    const { next, shareOf } = zipf(pages)
    const page = (/** @type {number} */ n) => `page:/articles/${10_000 + n}`
    const body = (/** @type {number} */ n) => text(500 + ((n * 37) % 1500))
    const filled = []
    for (let n = 0; n < pages; n++) {
      const asked = shareOf(n) * Number(rate) * lifeS
      if (Math.random() < asked / (1 + asked))
        filled.push(redis.set(page(n), body(n), 'PX', 1 + below(lifeS * 1000)))
    }
    await Promise.all(filled)
    return async () => {
      const n = next()
      if ((await redis.get(page(n))) === null) await redis.set(page(n), body(n), 'EX', lifeS)
    }
  },
}

const { REDIS_PASSWORD: password } = process.env
const redis = new Redis({ port: Number(port), host: '127.0.0.1', password })
const serve = await applications[name](redis)
process.stdout.write('ready\n')
for (let due = performance.now(); ; due += 1000 / Number(rate)) {
  const waitMs = due - performance.now()
  if (waitMs > 2) await sleep(waitMs)
  await serve()
}
