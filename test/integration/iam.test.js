// IAM (each driver: iam-again.test.js): a door before a real server checks tokens with a signature of its own, and takes none that is older than 15 s.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { openIamDoor } from '../helpers/iam-door.js'
import { startProducer, startProgram, until } from '../helpers/programs.js'
import { startServer } from '../helpers/servers.js'
import { makeCertificates } from '../helpers/tls-servers.js'

const secret = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY'

describe('login by IAM', { concurrency: 3 }, () => {
  /** @type {(() => void | Promise<void>)[]} */
  const undo = []
  const scope = { after: (/** @type {() => any} */ step) => void undo.unshift(step) }
  /** @type {Awaited<ReturnType<typeof openIamDoor>>} */
  let door
  /** @type {NodeJS.ProcessEnv} */
  let env = {}
  before(async () => {
    const certificates = makeCertificates(scope)
    const server = await startServer(scope)
    const about = { user: 'millrace', cache: 'my-cache', secret, goodForS: 15 }
    door = await openIamDoor(scope, server, certificates, about)
    env = {
      ...{
        REDIS_HOST: '127.0.0.1',
        REDIS_PORT: String(door.port),
        REDIS_TLS: 'true',
        REDIS_CA: certificates.ca,
      },
      ...{ REDIS_IAM: 'millrace@my-cache', AWS_REGION: 'eu-west-1' },
      ...{
        AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
        AWS_SECRET_ACCESS_KEY: secret,
        AWS_EC2_METADATA_DISABLED: 'true',
      },
    }
  })
  after(async () => {
    for (const step of undo) await step()
  })

  const short = '-q 60 -t 2 -a all -p 200 --intervals 3 --idle-cost never --ttl 100'
  test('connections that are cut log in with later tokens, and nothing is lost', async (t) => {
    const line = '-q 60 -t 2 -a all -p 200 --duration 26s --idle-cost never --ttl 100 --prefix cut.'
    const running = startProducer(t, line, { env })
    const reader = startProgram(t, 'consumer.js', '-p 250 --prefix cut. --duration 20s', { env })
    const queue = '--strategy queue-list --rate 40 --duration 26s --idle-cost never --prefix queue.'
    const producer = startProducer(t, queue, { env })
    await until('items of the queue', () => producer.intervals().some(({ items }) => items.acked > 0))
    const work =
      '--strategy queue-list --prefix queue. --workers 4 --with processes=2 --work 5ms --duration 22s'
    const workers = startProgram(t, 'consumer.js', work, { env })
    await until('items', () => running.intervals().some(({ items }) => items.acked > 0))
    // The first tokens are too old by then.
    await sleep(17_000)
    const before = door.seen.let
    door.cut()
    const { document, stderr } = await running.ended
    const read = await reader.ended
    const worked = await workers.ended
    await producer.ended
    assert.ok(worked.document.jobs.done > 600, `${worked.document.jobs.done} jobs: ${worked.stderr}`)
    assert.doesNotMatch(worked.stderr, /WRONGPASS|token was refused/)
    assert.ok(door.seen.let > before + 2, 'they came back')
    assert.equal(document.items.failed, 0, stderr)
    assert.equal(document.items.acked + document.items.uncertain, document.items.offered, stderr)
    assert.ok(document.items.acked > document.items.offered * 0.9, stderr)
    assert.ok(read.document.fetches.items > 0, read.stderr)
  })

  for (const [what, wrong, words] of /** @type {const} */ ([
    ['another secret', { AWS_SECRET_ACCESS_KEY: 'x'.repeat(40) }, /the token was refused; correct --iam,/],
    ['another cache', { REDIS_IAM: 'millrace@other' }, /the token was refused; correct --iam,/],
    ['no region', { AWS_REGION: '' }, /--iam: 127\.0\.0\.1 does not name its region; set AWS_REGION/],
    [
      'no credentials',
      { AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '', HOME: '/nonexistent' },
      /--iam millrace: no AWS credentials \(/,
    ],
  ]))
    test(`${what}: one line`, async (t) => {
      const { code, stderr } = await startProducer(t, short, { env: { ...env, ...wrong } }).ended
      assert.ok(code === 2 || code === 3, `exit ${code}: ${stderr}`)
      const lines = stderr.trim().split('\n')
      assert.equal(lines.length, 1, stderr)
      assert.match(lines[0], words)
      assert.doesNotMatch(stderr, /X-Amz-Signature=[^*]|wJalr/)
    })
})
