// Where items and passwords go when servers change during a run: only to servers that were checked.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { wayTo } from '../../scripts/faults/way.js'
import { startHere } from '../helpers/here.js'
import { bulk, infoText, startHostileServer } from '../helpers/hostile-server.js'
import { at, faultsIn, outcomesOf, until } from '../helpers/programs.js'
import { startServer } from '../helpers/servers.js'

/** @import { Scope } from '../helpers/servers.js' */

const password = 'the-password-of-the-target'
const drivers = ['socket', 'ioredis']

/** A server that only writes down what it is sent. @param {Scope} t @param {string} [secret] */
const startSpy = async (t, secret = password) => {
  const heard = /** @type {string[][]} */ ([])
  const port = await startHostileServer(t, (args) => {
    heard.push(args)
    return undefined
  })
  return {
    address: `127.0.0.1:${port}`,
    port,
    /** What came with the password, or of the items. */
    leaked: () => heard.filter((args) => args.includes(secret) || args[0] === 'SETEX' || args[0] === 'ZADD'),
  }
}

/** @param {any} ended @param {RegExp} reason */
const assertEnded = ({ code, document, stderr }, reason) => {
  assert.equal(code, 4, stderr)
  assert.ok(
    faultsIn(document).some((/** @type {string} */ fault) => reason.test(fault)) || reason.test(stderr),
    stderr,
  )
  assert.ok(
    document.events.some((/** @type {{ kind: string }} */ { kind }) => kind === 'unconfirmed'),
    JSON.stringify(document.events),
  )
}

describe('during a run', { concurrency: 5 }, () => {
  describe('a server that is made a replica of another one during the run', { concurrency: 2 }, () => {
    for (const driver of drivers)
      test(`${driver}: the run ends, and the other one hears nothing of us`, async (t) => {
        // The server itself signs in at its master.
        const server = await startServer(t, { config: { masterauth: 'of-the-replication' } })
        const spy = await startSpy(t, server.password)
        const producer = startHere(t, 'write', `-q 100 -c 10 -p 1s --ttl 60 --driver ${driver}`, server)
        await until('items arrive', () => server.redis.exists('item:1'))
        await server.redis.call('REPLICAOF', '127.0.0.1', spy.port)
        const ended = await producer.ended
        assertEnded(ended, new RegExp(`has become a replica of ${spy.address}, which was not checked`))
        assert.equal(ended.document.items.offered, outcomesOf(ended.document.items))
        assert.deepEqual(spy.leaked(), [])
      })
  })

  /**
   * A cluster of one node that sends everybody elsewhere once it is written to.
   * @param {Scope} t
   * @param {(slot: number) => string} redirect
   * @param {(name: string, who: string) => boolean} [misleads]
   */
  const startMisleadingCluster = async (
    t,
    redirect,
    misleads = (name, who) => who === 'millrace' && name === 'SETEX',
  ) => {
    let port = 0
    port = await startHostileServer(t, (args, who) => {
      const [name, sub] = args
      if (name === 'INFO') return bulk(infoText({ cluster_enabled: 1 }))
      if (name === 'TIME') return `*2\r\n${bulk(String(Math.floor(Date.now() / 1000)))}${bulk('0')}`
      // The plan is announced, and there is no other.
      if (name === 'EVAL' && args[3]?.endsWith('millrace:plan')) return `*2\r\n:${Date.now()}\r\n${bulk('')}`
      if (name === 'CLUSTER' && sub.toUpperCase() === 'SLOTS')
        return `*1\r\n*3\r\n:0\r\n:16383\r\n*3\r\n$9\r\n127.0.0.1\r\n:${port}\r\n$40\r\n${'b'.repeat(40)}\r\n`
      if (name === 'CLUSTER' && sub.toUpperCase() === 'INFO') return bulk('cluster_state:ok\r\n')
      if (name === 'CLUSTER')
        return bulk(`${'b'.repeat(40)} 127.0.0.1:${port}@1 myself,master - 0 0 1 connected 0-16383\n`)
      if (misleads(name, who)) return `-${redirect(1)}\r\n`
      return undefined
    })
    return port
  }

  describe('redirects to a server outside the cluster', { concurrency: 4 }, () => {
    test('of leases: it gets no password', async (t) => {
      const spy = await startSpy(t)
      const ofLeases = (/** @type {string} */ name, /** @type {string} */ who) =>
        who === 'millrace-lease' && /^(SET|EVAL|GET|MGET)$/.test(name)
      const port = await startMisleadingCluster(t, (slot) => `MOVED ${slot} ${spy.address}`, ofLeases)
      const ended = await startHere(t, 'write', '-q 20 -t 1 -a all -c 4 --cluster --duration 3s', {
        host: '127.0.0.1',
        port,
        password,
      }).ended
      assert.ok([3, 4].includes(Number(ended.code)), ended.stderr)
      assert.deepEqual(spy.leaked(), [])
    })

    for (const driver of drivers)
      for (const word of ['MOVED', 'ASK'])
        test(`${driver}: ${word} is not followed, and the run ends when it goes on`, async (t) => {
          const spy = await startSpy(t)
          const port = await startMisleadingCluster(t, (slot) => `${word} ${slot} ${spy.address}`)
          const ended = await startHere(
            t,
            'write',
            `-q 20 -t 1 -a all -c 4 -p 1s --ttl 60 --cluster --driver ${driver} --duration 60s`,
            { host: '127.0.0.1', port, password },
          ).ended
          assertEnded(ended, new RegExp(`redirects to ${spy.address}, and nothing was sent there`))
          assert.deepEqual(spy.leaked(), [])
        })
  })

  /** @param {Scope} t @param {{ host: string, port: number }} server */
  const openWay = async (t, server) => {
    const way = await wayTo(server)
    t.after(way.close)
    return way
  }

  describe('connections that are forgotten on their way', { concurrency: 4 }, () => {
    for (const driver of drivers)
      test(`${driver}: are given up, and what they owe is repeated`, async (t) => {
        const server = await startServer(t)
        const way = await openWay(t, server)
        const producer = startHere(
          t,
          'write',
          `-q 100 -c 10 -p 1s --ttl 60 --max-behind 60s --driver ${driver} --duration 90s`,
          { ...server, port: way.port },
        )
        await until('items arrive', () => server.redis.exists('item:1'))
        way.forget()
        const score = () => server.redis.zscore('latest-ids', 'item:1')
        await producer.says(/given up/)
        const before = await score()
        await until('items arrive again', async () => (await score()) !== before)
        producer.kill('SIGINT')
        const { code, document, stderr } = await producer.ended
        assert.equal(code, 130, stderr)
        const { items, events } = document
        assert.equal(items.offered, outcomesOf(items))
        assert.equal(items.failed + items.uncertain + items.dropped, 0, JSON.stringify(items))
        assert.ok(events.some((/** @type {{ kind: string }} */ { kind }) => kind === 'half-open'))
      })

    for (const driver of drivers)
      test(`${driver}: a consumer fetches again`, async (t) => {
        const server = await startServer(t)
        const way = await openWay(t, server)
        const to = at({ ...server, port: way.port })
        await startHere(t, 'write', '-q 100 -c 1 -p 1s --ttl 600 --intervals 1', server).ended
        const consumer = startHere(t, 'read', `-p 500 --driver ${driver} --duration 90s`, { env: to })
        await consumer.says(/reads from/)
        way.forget()
        await consumer.says(/given up/)
        const fetches = async () =>
          Number(/cmdstat_zrangebyscore:calls=(\d+)/.exec(await server.redis.info('commandstats'))?.[1])
        const before = await fetches()
        await until('items are fetched again', async () => (await fetches()) > before + 2)
        consumer.kill('SIGINT')
        const { code, stderr } = await consumer.ended
        assert.equal(code, 130, stderr)
      })
  })

  describe('one corrupt byte', { concurrency: 2 }, () => {
    for (const driver of drivers)
      test(`${driver}: ends the connection`, async (t) => {
        let replies = 0
        const port = await startHostileServer(t, ([name], who) =>
          who === 'millrace' && name === 'ZADD' && ++replies === 7 ? ':\u00001\r\n' : undefined,
        )
        const { code, document, stderr } = await startHere(
          t,
          'write',
          `-q 20 -t 1 -a all -c 4 -p 200 --ttl 60 --driver ${driver} --intervals 4`,
          { host: '127.0.0.1', port, password: '' },
        ).ended
        assert.ok(code === 0 || code === 4, stderr)
        assert.ok(document.items.offered > 0)
        const { repeated_by: repeatedBy } = document.commands
        assert.ok(repeatedBy.CLOSED > 0, JSON.stringify(repeatedBy))
      })
  })
})
