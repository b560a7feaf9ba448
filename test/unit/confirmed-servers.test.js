import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { TargetError } from '../../lib/base/errors.js'
import { endpointOf } from '../../lib/servers/address.js'
import { confirmedServersOf, replicaRule, strayLimitMs } from '../../lib/servers/confirmed-servers.js'
import { controlConnections } from '../../lib/servers/control.js'
import { dial } from '../../lib/servers/dial.js'
import { isLinkLocal } from '../../lib/servers/link-local.js'
import { topologySourceOf } from '../../lib/servers/topology-source.js'
import { notes, testScenes } from '../helpers/scenes.js'

/** @import { Layout } from '../../lib/servers/topology.js' */
/** @import { Endpoint } from '../../lib/servers/address.js' */

const [seed, outside] = ['127.0.0.1:7001', '127.0.0.1:6001']

/** @param {string[]} masters @param {string[]} [replicas] @returns {Layout} */
const layoutOf = (masters, replicas = []) => {
  const nodes = (/** @type {'master' | 'replica'} */ role, /** @type {string[]} */ addresses) =>
    addresses.map((address) => ({ address, ...endpointOf(address), role, shard: 1 }))
  return { masters, owners: null, nodes: [...nodes('master', masters), ...nodes('replica', replicas)] }
}

/** @param {(text: string) => void} note takes what is checked, and why the run ends */
const started = (note) => {
  let nowMs = 0
  const confirmed = confirmedServersOf({ clock: () => nowMs })
  confirmed.begin(layoutOf([seed]))
  confirmed.endWith((reason) => note(`the run ends: ${reason}`))
  const checkWith = (/** @type {Error | null} */ error) =>
    confirmed.checkWith(async (address) => {
      note(`checks ${address}`)
      if (error) throw error
    })
  checkWith(null)
  const pass = (/** @type {number} */ ms) => (nowMs += ms)
  return { confirmed, checkWith, pass }
}

const altnames = Object.assign(new Error('altnames'), { code: 'ERR_TLS_CERT_ALTNAME_INVALID' })
/** What a check of a server finds. @type {Record<string, Error | null>} */
const findings = {
  nothing: null,
  keys: new TargetError('it holds keys of others', { code: 'FOREIGN' }),
  names: new TargetError('its certificate is for other names', { cause: altnames }),
  silence: new TargetError('nothing listens there', { code: 'CONNECT' }),
}

// The seed is :7001; a second server is :7002, and one that no topology names is :6001. Behind each row: which servers are
// checked, what is refused, which redirects are followed, and why the run ends.
testScenes(() => {
  const { note, taken } = notes()
  const { confirmed, checkWith, pass } = started(note)
  const addressOf = (/** @type {string} */ port) => `127.0.0.1:${port}`
  const review = (/** @type {ReturnType<typeof layoutOf>} */ layout) =>
    confirmed.review(layout).catch((error) => note(`refused: ${error.message}`))
  const redirect = (/** @type {string} */ port) =>
    note(confirmed.follows(seed, addressOf(port)) ? 'followed' : 'not followed')
  const steps = {
    redirect,
    review: (/** @type {string} */ port) => review(layoutOf([seed, addressOf(port)])),
    'without-slots': (/** @type {string} */ port) =>
      review(Object.assign(layoutOf([seed]), { others: [addressOf(port)] })),
    find: (/** @type {string} */ what) => checkWith(findings[what]),
    strays: (/** @type {string} */ everyMs, /** @type {string} */ untilMs) => {
      for (let ms = 0; ms <= Number(untilMs); ms += Number(everyMs)) {
        assert.equal(confirmed.follows(seed, outside), false)
        pass(Number(everyMs))
      }
    },
  }
  return { steps, seen: () => taken() || 'nothing' }
})(`
a server that comes into a run is checked once, and then used
  redirect 7002 -> not followed
  review 7002, review 7002, redirect 7002 -> checks 127.0.0.1:7002, followed

it ends the run when it holds keys of others
  find keys, review 7002, redirect 7002 -> checks 127.0.0.1:7002, the run ends: it holds keys of others, refused: it holds keys of others, not followed

it ends the run when its certificate does not hold
  find names, review 7002, redirect 7002 -> checks 127.0.0.1:7002, the run ends: its certificate is for other names, refused: its certificate is for other names, not followed

it is waited for when it does not answer yet
  find silence, review 7002, find nothing, review 7002, redirect 7002 -> checks 127.0.0.1:7002, refused: nothing listens there, checks 127.0.0.1:7002, followed

it may own no slots yet
  without-slots 7002, redirect 7002 -> checks 127.0.0.1:7002, followed

a redirect to a server that no topology names ends the run, once, when it goes on
  strays 500 ${strayLimitMs} -> nothing
  redirect 6001 -> the run ends: 127.0.0.1:7001 redirects to 127.0.0.1:6001, and nothing was sent there: the cluster's own map does not name it, not followed
  redirect 6001 -> not followed

one now and then ends nothing
  strays 2000 20000 -> nothing
`)

describe('replicas that only INFO names', () => {
  const [far, near] = ['10.0.0.7:6379', 'localhost:6380']
  /** @type {[string, any, boolean, boolean][]} */
  const cases = [
    ['without a password', {}, false, true],
    ['with a password in the clear', { password: 'x' }, false, false],
    ['with a password and TLS', { password: 'x', tls: {} }, false, true],
    ['with --tls-insecure', { password: 'x', tls: { rejectUnauthorized: false } }, false, false],
    ['with --allow named-hosts', { password: 'x' }, true, true],
  ]
  for (const [what, access, mayBeNamed, isTaken] of cases)
    test(`${what}: ${isTaken ? 'taken' : 'left out'}`, () => {
      const takes = replicaRule(access, mayBeNamed)
      assert.deepEqual([takes(far, seed), takes(near, seed)], [isTaken, true])
    })
})

describe('link-local addresses', () => {
  for (const [host, isOne] of /** @type {[string, boolean][]} */ ([
    ['169.254.169.254', true],
    ['fe80::1', true],
    ['febf::1%eth0', true],
    ['::ffff:169.254.1.1', true],
    ['169.253.1.1', false],
    ['fec0::1', false],
    ['127.0.0.1', false],
    ['localhost', false],
  ]))
    test(`${host}: ${isOne}`, () => assert.equal(isLinkLocal(host), isOne))

  const linked = '169.254.169.254:6379'
  test('are used by nobody but a user who named one', async () => {
    const confirmed = confirmedServersOf({ clock: () => 0, typed: '10.0.0.1' })
    const refusal =
      /the servers name 169\.254\.169\.254:6379, a link-local address, which was not connected to/
    assert.throws(() => confirmed.begin(layoutOf([seed], [linked])), refusal)
    assert.throws(() => confirmed.name(linked), refusal)
    confirmed.begin(layoutOf([seed]))
    const { note, taken } = notes()
    confirmed.endWith(note)
    await assert.rejects(confirmed.review(layoutOf([seed, linked])), refusal)
    assert.match(taken(), refusal)
    const shard = Object.assign(layoutOf([seed]), { others: [linked] })
    await confirmed.review(shard)
    assert.equal(confirmed.mayConnect(linked) || confirmed.isAdmitted(linked), false)
    assert.equal(replicaRule({}, true)(linked, seed), false)
    const own = confirmedServersOf({ clock: () => 0, typed: '169.254.7.7' })
    own.begin(layoutOf(['169.254.7.7:6379'], [linked]))
    assert.equal(own.isAdmitted(linked), true)
  })

  test('nor does a name lead there', async () => {
    // The decimal form of 169.254.169.254, which the system resolves.
    const access = { password: 'hunter2' }
    const connecting = dial({ host: '2852039166', port: 6379 }, access, { onBytes() {}, onClose() {} })
    const nothing = /2852039166 resolves to a link-local address, and nothing was sent there/
    await assert.rejects(connecting, nothing)
    const control = controlConnections(access)
    const connected = control.connect({ host: '2852039166', port: 6379 })
    await assert.rejects(connected, /resolves to a link-local address/)
    control.close()
  })
})

test('a server that has become a replica of an unknown one: that one is not even asked', async () => {
  const asked = /** @type {string[]} */ ([])
  const { host, port } = endpointOf(outside)
  /** @type {any} */
  const control = {
    clientOf: (/** @type {Endpoint} */ endpoint) => ({
      call: async () => {
        asked.push(`${endpoint.host}:${endpoint.port}`)
        return `role:slave\r\nmaster_host:${host}\r\nmaster_port:${port}\r\n`
      },
    }),
  }
  const { note, taken } = notes()
  const { confirmed } = started(note)
  const source = topologySourceOf({
    ...{ control, endpoint: endpointOf(seed), cluster: false, sentinels: null, mayBeReplica: false },
    ...{ refused: new Set(), confirmed, takesReplica: () => true },
  })
  await assert.rejects(source.again(layoutOf([seed])), (/** @type {Error} */ error) => {
    confirmed.failed(error)
    return /has become a replica of 127\.0\.0\.1:6001/.test(error.message)
  })
  assert.deepEqual(asked, [seed])
  assert.match(taken(), /^the run ends: [^,]*has become a replica of 127\.0\.0\.1:6001[^:]*$/)
})
