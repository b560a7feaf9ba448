import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { TargetError } from '../../lib/base/errors.js'
import { endpointOf } from '../../lib/servers/address.js'
import { confirmedServersOf, replicaRule, strayLimitMs } from '../../lib/servers/confirmed-servers.js'
import { topologySourceOf } from '../../lib/servers/topology-source.js'

const [seed, second, outside] = ['127.0.0.1:7001', '127.0.0.1:7002', '127.0.0.1:6001']

/** @param {string[]} masters @param {string[]} [replicas] @returns {import('../../lib/servers/topology.js').Layout} */
const layoutOf = (masters, replicas = []) => {
  const node = (/** @type {'master' | 'replica'} */ role) => (/** @type {string} */ address) => ({
    address,
    ...endpointOf(address),
    role,
    shard: 1,
  })
  return { masters, owners: null, nodes: [...masters.map(node('master')), ...replicas.map(node('replica'))] }
}

const started = () => {
  let nowMs = 0
  const ended = /** @type {string[]} */ ([])
  const checked = /** @type {string[]} */ ([])
  const confirmed = confirmedServersOf({ clock: () => nowMs })
  confirmed.begin(layoutOf([seed]))
  confirmed.endWith((reason) => ended.push(reason))
  const checkWith = (/** @type {Error | null} */ error) =>
    confirmed.checkWith(async (address) => {
      checked.push(address)
      if (error) throw error
    })
  checkWith(null)
  return {
    confirmed,
    ended,
    checked,
    checkWith,
    pass: (/** @type {number} */ ms) => {
      nowMs += ms
    },
  }
}

describe('a server that comes into a run', () => {
  test('is checked once, and then used', async () => {
    const { confirmed, checked, ended } = started()
    assert.equal(confirmed.follows(seed, second), false)
    await confirmed.review(layoutOf([seed, second]))
    await confirmed.review(layoutOf([seed, second]))
    assert.deepEqual(checked, [second])
    assert.equal(confirmed.follows(seed, second), true)
    assert.deepEqual(ended, [])
  })

  test('ends the run when it holds keys of others', async () => {
    const { confirmed, checkWith, ended } = started()
    checkWith(new TargetError('it holds keys of others', { code: 'FOREIGN' }))
    await assert.rejects(confirmed.review(layoutOf([seed, second])), /keys of others/)
    assert.equal(confirmed.isAdmitted(second), false)
    assert.deepEqual(ended, ['it holds keys of others'])
  })

  test('ends the run when its certificate does not hold', async () => {
    const { confirmed, checkWith, ended } = started()
    const cause = Object.assign(new Error('altnames'), { code: 'ERR_TLS_CERT_ALTNAME_INVALID' })
    checkWith(new TargetError('its certificate is for other names', { cause }))
    await assert.rejects(confirmed.review(layoutOf([seed, second])))
    assert.equal(ended.length, 1)
  })

  test('is waited for when it does not answer yet', async () => {
    const { confirmed, checkWith, ended } = started()
    checkWith(new TargetError('nothing listens there', { code: 'CONNECT' }))
    await assert.rejects(confirmed.review(layoutOf([seed, second])))
    checkWith(null)
    await confirmed.review(layoutOf([seed, second]))
    assert.equal(confirmed.isAdmitted(second), true)
    assert.deepEqual(ended, [])
  })

  test('may own no slots yet', async () => {
    const { confirmed } = started()
    await confirmed.review(Object.assign(layoutOf([seed]), { others: [second] }))
    assert.equal(confirmed.follows(seed, second), true)
  })
})

describe('a redirect to a server that nobody confirms', () => {
  test('ends the run when it goes on', () => {
    const { confirmed, ended, pass } = started()
    for (let ms = 0; ms <= strayLimitMs; ms += 500) {
      assert.equal(confirmed.follows(seed, outside), false)
      assert.deepEqual(ended, [])
      pass(500)
    }
    confirmed.follows(seed, outside)
    confirmed.follows(seed, outside)
    assert.equal(ended.length, 1)
    assert.match(ended[0], /127\.0\.0\.1:7001 redirects to 127\.0\.0\.1:6001, and nothing was sent there/)
  })

  test('now and then ends nothing', () => {
    const { confirmed, ended, pass } = started()
    for (let i = 0; i < 10; i++) {
      confirmed.follows(seed, outside)
      pass(2000)
    }
    assert.deepEqual(ended, [])
  })
})

describe('replicas that only INFO names', () => {
  const [far, near] = ['10.0.0.7:6379', 'localhost:6380']
  /** @type {[string, any, boolean, boolean][]} */
  const cases = [
    ['without a password', {}, false, true],
    ['with a password in the clear', { password: 'x' }, false, false],
    ['with a password and TLS', { password: 'x', tls: {} }, false, true],
    [
      'with a password and --tls-insecure',
      { password: 'x', tls: { rejectUnauthorized: false } },
      false,
      false,
    ],
    ['with --allow named-hosts', { password: 'x' }, true, true],
  ]
  for (const [what, access, mayBeNamed, isTaken] of cases)
    test(`${what}: ${isTaken ? 'taken' : 'left out'}`, () => {
      const takes = replicaRule(access, mayBeNamed)
      assert.equal(takes(far, seed), isTaken)
      assert.equal(takes(near, seed), true)
    })
})

test('a server that has become a replica of an unknown one: that one is not even asked', async () => {
  const asked = /** @type {string[]} */ ([])
  const [{ host, port }] = [endpointOf(outside)]
  /** @type {any} */
  const control = {
    of: (/** @type {import('../../lib/servers/address.js').Endpoint} */ endpoint) => ({
      call: async () => {
        asked.push(`${endpoint.host}:${endpoint.port}`)
        return `role:slave\r\nmaster_host:${host}\r\nmaster_port:${port}\r\n`
      },
    }),
  }
  const { confirmed, ended } = started()
  const source = topologySourceOf({
    control,
    endpoint: endpointOf(seed),
    cluster: false,
    sentinels: null,
    mayBeReplica: false,
    refused: new Set(),
    confirmed,
    takesReplica: () => true,
  })
  await assert.rejects(source.again(layoutOf([seed])), (/** @type {Error} */ error) => {
    confirmed.failed(error)
    return /has become a replica of 127\.0\.0\.1:6001/.test(error.message)
  })
  assert.deepEqual(asked, [seed])
  assert.equal(ended.length, 1)
})
