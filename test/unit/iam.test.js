// Tokens of IAM: what botocore signs for the same moment, and what an address says of its cache.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OptionError } from '../../lib/base/errors.js'
import { redactor } from '../../lib/base/redact.js'
import { iamAccess, identityOf, tokenSigner } from '../../lib/servers/iam.js'

const credentials = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
}
const cache = { option: '--iam', user: 'millrace', cache: 'my-cache' }
const identity = { ...cache, region: 'eu-west-1', isServerless: false }
const moment = new Date('2026-11-28T10:00:00Z')

// Made by botocore 1.43.11 (RequestSigner.generate_presigned_url) with these credentials at this moment.
const ofBotocore =
  'my-cache/?Action=connect&User=millrace&X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIDEXAMPLE%2F20261128%2Feu-west-1%2Felasticache%2Faws4_request&X-Amz-Date=20261128T100000Z&X-Amz-Expires=900&X-Amz-SignedHeaders=host&X-Amz-Signature=5bcaea014b2c796f899c7fa2e15922b7b93e6876ca1cff8826670577b0100c4d'
const ofBotocoreServerless =
  'my-cache/?Action=connect&User=millrace&ResourceType=ServerlessCache&X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIDEXAMPLE%2F20261128%2Fus-east-1%2Felasticache%2Faws4_request&X-Amz-Date=20261128T100000Z&X-Amz-Expires=900&X-Amz-SignedHeaders=host&X-Amz-Security-Token=tok%2Fen%2Bwith%3Dsigns%3D%3D&X-Amz-Signature=bb911a1e20b53d40d9cbb0caa9f96527b5b064b5ad421a2a97c8ad4370b16e37'

/** The order of the parameters says nothing. @param {string} token */
const partsOf = (token) => token.split(/[?&]/).sort()

test("a token is botocore's for the same moment, for nodes and for serverless caches", async () => {
  const sign = await tokenSigner(identity, credentials)
  assert.deepEqual(partsOf(await sign(moment)), partsOf(ofBotocore))
  const serverless = await tokenSigner(
    { ...identity, region: 'us-east-1', isServerless: true },
    { ...credentials, sessionToken: 'tok/en+with=signs==' },
  )
  assert.deepEqual(partsOf(await serverless(moment)), partsOf(ofBotocoreServerless))
})

test('cache and region come from the address, the options and AWS_REGION', () => {
  const from = (/** @type {object} */ settings, env = {}) =>
    identityOf(/** @type {any} */ ({ iam: 'millrace', ...settings }), env)
  assert.deepEqual(from({ host: 'master.My-Cache.abc123.euw1.cache.amazonaws.com' }), identity)
  assert.deepEqual(from({ host: 'my-cache-ab12cd.serverless.euw1.cache.amazonaws.com' }), {
    ...identity,
    isServerless: true,
  })
  const asked = { host: '10.0.0.1', iam: 'millrace@My-Cache' }
  assert.deepEqual(from(asked, { AWS_REGION: 'eu-west-1' }), identity)
  assert.throws(() => from({ host: '10.0.0.1' }, { AWS_REGION: 'eu-west-1' }), {
    constructor: OptionError,
    message: /^--iam: 10\.0\.0\.1 does not name its cache; .*--iam millrace@CACHE/,
  })
  assert.throws(() => from({ host: '10.0.0.1', iam: 'millrace@my-cache' }), {
    constructor: OptionError,
    message: /^--iam: 10\.0\.0\.1 does not name its region; set AWS_REGION/,
  })
  const control = { host: 'master.meeting.abc123.euw1.cache.amazonaws.com', iam: 'boxes' }
  assert.deepEqual(identityOf(control, {}, '--control'), {
    ...identity,
    ...{ option: '--control', user: 'boxes', cache: 'meeting' },
  })
})

test('the password is the token of the moment; a copy has the one of its own', async (t) => {
  t.mock.timers.enable({ apis: ['Date', 'setInterval'], now: moment.getTime() })
  const access = await iamAccess({ tls: null }, identity, { credentials, say: assert.fail })
  const first = structuredClone(access)
  assert.deepEqual(partsOf(String(access.password)), partsOf(ofBotocore))
  const renewed = new Promise((resolve) => access.renewed?.(resolve))
  t.mock.timers.tick(10_000)
  const token = await renewed
  assert.match(String(token), /X-Amz-Date=20261128T100010Z/)
  assert.equal(access.password, token)
  assert.deepEqual(partsOf(String(first.password)), partsOf(ofBotocore))
  assert.equal(first.username, 'millrace')
  // What a thread or a process gets logs in again as well, before 12 hours are over.
  assert.equal(first.loginAgainMs, 11 * 3_600_000)
})

test('credentials that fail later are reported once, and the last token stays', async (t) => {
  t.mock.timers.enable({ apis: ['Date', 'setInterval'], now: moment.getTime() })
  const lines = /** @type {string[]} */ ([])
  let hasFailed = false
  const access = await iamAccess({ tls: null }, identity, {
    credentials: async () => {
      if (hasFailed) throw new Error('The security token included is expired\nmore')
      return credentials
    },
    say: (line) => lines.push(line),
  })
  hasFailed = true
  const before = access.password
  for (let i = 0; i < 3; i++) {
    t.mock.timers.tick(10_000)
    await new Promise((resolve) => setImmediate(resolve))
  }
  assert.equal(access.password, before)
  assert.deepEqual(lines, [
    '--iam millrace: no new token (The security token included is expired); the last one is used until it expires',
  ])
})

test('without credentials there is one line', async () => {
  const credentials = async () => {
    throw new Error('Could not load credentials from any providers')
  }
  await assert.rejects(iamAccess({ tls: null }, identity, { credentials, say: assert.fail }), {
    message: '--iam millrace: no AWS credentials (Could not load credentials from any providers)',
  })
})

test('of every token the signed parts are removed, also of one that comes later', async () => {
  const redact = redactor()
  redact.learn(ofBotocore)
  const secret = /5bcaea|bb911a|tok%2Fen|AKID/
  for (const token of [ofBotocore, ofBotocoreServerless]) {
    for (const text of [
      token,
      encodeURIComponent(token),
      JSON.stringify({ token }),
      `cut ${token.slice(0, -9)}`,
    ])
      assert.doesNotMatch(redact.text(text), secret)
    assert.doesNotMatch(JSON.stringify(redact.data({ a: [token] })), secret)
  }
  assert.equal(redact.text('X-Amz-Date=1'), 'X-Amz-Date=1')
})
