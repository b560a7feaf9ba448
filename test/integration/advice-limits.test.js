// Advice of runs that fell behind, of servers that refuse, of workers and of consumers helps: see test/helpers/advice.js.
import assert from 'node:assert/strict'
import { adviceHelps } from '../helpers/advice.js'
import { warningIn } from '../helpers/programs.js'

const short = '--duration 1200ms --warm-up 0s' // a warm-up hides what was disturbed in it

adviceHelps({
  'an item that is due again before it is stored': {
    line: `write -q 100 --period 10ms ${short}`,
    ...{
      code: 'rate',
      says: /set (-q \d+) at the same rate \((--period \d+ms)\)/,
      typed: ['$1 $2'],
      on: 'far',
    },
    check: ({ warnings, rate, plan }, of) => {
      const { message = '' } = warningIn({ warnings }, 'rate') ?? {}
      // To store an item took longer than when it was advised: others use this machine.
      const takesMs = Number(/to store it takes ([\d.]+) ms/.exec(message)?.[1] ?? 0)
      assert.ok(!message || rate.achieved > 1.5 * of.rate.achieved || takesMs > plan.periodMs, message)
    },
  },
  'a window smaller than a batch': {
    line: `write -q 30000 --period 1s --window 4kB --duration 3s --warm-up 0s`,
    ...{ code: 'rate', says: /raise (--window)/, typed: ['$1 1MB'], on: 'far' },
  },
  'few commands in flight': {
    line: `write -q 1000 --period 500ms --pipeline 4 ${short}`,
    ...{ code: 'rate', says: /raise (--pipeline)/, typed: ['$1 1000'], on: 'far' },
  },
  'bundles that are too small': {
    line: `write --strategy counter-script --with counters=50,bundle-size=2 --rate 2000 --with delay=10ms ${short}`,
    ...{ code: 'rate', says: /raise (--with bundle-size)/, typed: ['$1=1000,counters=50,delay=10ms'] },
  },
  'few writers of updates': {
    line: 'write --strategy query-scan --items 100 --connections 1 --with update-writers=1,update-rate=400 --duration 2s',
    ...{
      code: 'update-rate',
      says: /raise (--with update-writers), or lower (--with update-rate)/,
      on: 'far',
    },
    typed: ['$1=50,update-rate=400', '$1=1,update-rate=5'],
    check: (now, of) => {
      const part = (/** @type {any} */ { updates, plan }) => updates.rate / plan.querying.updateRateHz
      assert.ok(part(now) > 1.5 * part(of), JSON.stringify([now.updates, of.updates]))
    },
  },
  'connections of clients that are all being opened again': {
    line: `write --strategy lookup-get --keys 1k --fill --connections 1 --reconnects 200 ${short}`,
    ...{ code: 'reconnects', says: /lower (--reconnects) or raise (--connections)/, on: 'far' },
    typed: ['$1 2', '$2 50'],
    // How many can be made anew at the same time depends on the machine.
    check: ({ traffic: { connections } }, { traffic: { connections: before } }) =>
      assert.ok(connections.missed < before.missed / 2, JSON.stringify([connections, before])),
  },
  'a key of another type': {
    during: ({ redis }) => redis.set('latest-ids', 'x'),
    line: 'write -q 100 --period 200ms --warm-up 0s',
    ...{
      code: 'cause',
      says: /^WRONGTYPE .*choose another (--prefix) or remove that key/,
      typed: ['$1 other:'],
    },
  },
  'ids of an earlier run': {
    written: 'write --strategy set -q 2000 --ttl 60s --duration 1s',
    prepare: async ({ redis }) => redis.del(Array.from({ length: 2000 }, (_, i) => `item:${i + 1}`)),
    line: 'write --strategy set -q 2000 --ttl 60s --duration 1s',
    ...{ says: /ids of an earlier run.* take another (--prefix)/, typed: ['$1 other:'] },
  },
  'a consumer of another strategy': {
    written: 'write --strategy list -q 100 --ttl 60s --duration 1s',
    prepare: ({ redis }) => redis.del('millrace:plan'),
    line: 'read --strategy set --ttl 60s --duration 1s',
    ...{ code: 'no-items', says: /set (--strategy), --prefix/, typed: ['$1 list'] },
  },
  'workers of another queue': {
    written: 'write --strategy queue-list --rate 100 --duration 1s',
    prepare: ({ redis }) => redis.del('millrace:plan'),
    line: 'read --strategy queue-zset --workers 2 --duration 1s',
    ...{ code: 'no-jobs', says: /set (--strategy), --prefix/, typed: ['$1 queue-list'] },
  },
  'fewer workers than the jobs need': {
    beside: '--strategy queue-list --rate 100 --duration 30s',
    line: 'read --strategy queue-list --workers 2 --work sleep:50ms --duration 4s',
    ...{ code: 'backlog', says: /set (--workers \d+)$/, typed: ['$1'] },
    // On a busy machine more of them drain it later, and more of it than before all the same.
    check: ({ backlog, rate }, of) =>
      assert.ok(
        backlog.last < of.backlog.last / 2 || rate.achieved > 1.5 * of.rate.achieved,
        JSON.stringify([backlog, rate, of.rate]),
      ),
  },
  'jobs in hand at the end': {
    written: 'write --strategy queue-list --rate 200 --duration 1s',
    line: 'read --strategy queue-list --workers 1 --take 100 --work sleep:150ms --with reclaim=80s --duration 1s',
    ...{ code: 'unsettled', says: /lower (--take)/, typed: ['$1 1'] },
  },
  'sorted sets that lie unevenly': {
    line: `write --cluster --ns 6 -q 100 ${short}`,
    ...{ code: 'placement', says: /use (--spread)/, typed: ['$1'], on: 'cluster' },
  },
  'fewer sorted sets than shards': {
    line: `write --cluster --ns 2 --spread -q 100 ${short}`,
    ...{ code: 'placement', says: /(--ns 3) or a multiple of it/, typed: ['$1'], on: 'cluster' },
  },
  'a master that becomes a replica': {
    during: ({ redis, port }) => redis.replicaof('127.0.0.1', String(port + 1)),
    line: 'write -q 100 --period 200ms --warm-up 0s',
    ...{ code: 'cause', says: /^READONLY .*name a master in (--url)/, typed: ['$1 $master'] },
  },
  'a server at its memory limit': {
    prepare: async ({ redis }) => redis.config('SET', 'maxmemory', '3mb', 'maxmemory-policy', 'noeviction'),
    line: `write -q 8000 --value-size 1000 --allow memory --guard off ${short}`,
    ...{ code: 'cause', says: /^OOM .*raise maxmemory, shorten lifetimes or write less/ },
    typed: ['-q 400'],
    done: { 'raise maxmemory': ({ redis }) => redis.config('SET', 'maxmemory', '100mb') },
  },
  'keys that are evicted': {
    prepare: async ({ redis }) => redis.config('SET', 'maxmemory', '3mb', 'maxmemory-policy', 'allkeys-lru'),
    line: `write -q 8000 --value-size 1000 --allow memory --guard off ${short}`,
    ...{ code: 'evictions', says: /raise maxmemory, shorten lifetimes or write less/ },
    typed: ['-q 400'],
    done: { 'raise maxmemory': ({ redis }) => redis.config('SET', 'maxmemory', '100mb') },
  },
})
