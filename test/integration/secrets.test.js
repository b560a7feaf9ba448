// A password is in no output, no file, and no process list, whichever way it came.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { testEnvironment } from '../../scripts/test.js'
import {
  assertDone,
  childrenOf,
  documentIn,
  folderIn,
  ownFolder,
  runProducer,
  startOther,
  startProducer,
  until,
} from '../helpers/programs.js'
import { startServer } from '../helpers/servers.js'

const secret = 'Tr0ub4dor&3%'
const short = '-q 20 -p 200 --intervals 2'
const project = fileURLToPath(new URL('../..', import.meta.url))

/** @param {string} folder */
const textsUnder = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))

/** The same of a folder that changes: none while a file of it goes. @param {string} folder */
const textsSoFar = (folder) => {
  try {
    return textsUnder(folder)
  } catch {
    return []
  }
}

/** Every spelling of it. @param {string} text */
const assertSecret = (text) => {
  for (const spelling of [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)])
    assert.ok(!text.includes(spelling), text.slice(0, 2000))
}

const ways =
  /** @type {[string, (own: string, port: number) => { line?: string, env?: Record<string, string> }][]} */ ([
    ['the environment', () => ({ env: { REDIS_PASSWORD: secret } })],
    ['the command line', () => ({ line: `--password ${secret}` })],
    [
      'the address',
      (_, port) => {
        const url = `redis://:${encodeURIComponent(secret)}@127.0.0.1:${port}`
        return { env: { REDIS_URL: url, REDIS_HOST: '', REDIS_PORT: '' } }
      },
    ],
    [
      'a file',
      (own) => {
        writeFileSync(join(own, 'secret'), `${secret}\nnot this\n`)
        return { line: `--password-file ${join(own, 'secret')}` }
      },
    ],
  ])

describe('a password', { concurrency: 3 }, () => {
  for (const [i, [way, make]] of ways.entries())
    test(`from ${way}: a run, and a refusal`, async (t) => {
      const server = await startServer(t)
      await server.redis.config('SET', 'requirepass', secret)
      const { line = '', env = {} } = make(ownFolder(t, 'secret'), server.port)
      const at = { REDIS_HOST: server.host, REDIS_PORT: String(server.port), ...env }
      // Whichever way it came, a driver is given the same password.
      const driver = ['socket', 'ioredis'][i % 2]
      const load = `${short} ${line} --driver ${driver} --log trace`
      // A page has what run.json has, whichever way the password came.
      const pages = i === 0
      const { code, stdout, stderr, folder, document } = await runProducer(t, load, { env: at, pages })
      assertDone({ code, document, stderr })
      for (const text of [stdout, stderr, ...textsUnder(folder)]) assertSecret(text)
      await server.redis.config('SET', 'requirepass', 'another')
      const refused = await runProducer(t, `${short} ${line}`, { env: at })
      assert.equal(refused.code, 3)
      assertSecret(refused.stdout + refused.stderr)
    })

  test('typed on the terminal, unseen', async (t) => {
    const server = await startServer(t)
    await server.redis.config('SET', 'requirepass', secret)
    const own = ownFolder(t, 'terminal')
    // A slow machine: a third of a second before the terminal stops its echo.
    const slowly = join(own, 'slowly.mjs')
    writeFileSync(
      slowly,
      `import { ReadStream } from 'node:tty'
const { setRawMode } = ReadStream.prototype
ReadStream.prototype.setRawMode = function (raw) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300)
  return setRawMode.call(this, raw)
}`,
    )
    const line = `node ${join(project, 'producer.js')} ${short} --quiet --ask-password --out ${join(own, 'out')}`
    // script(1) gives it a terminal.
    const env = {
      ...{ ...testEnvironment(process.env), XDG_RUNTIME_DIR: own, NODE_OPTIONS: `--import ${slowly}` },
      ...{ REDIS_HOST: server.host, REDIS_PORT: String(server.port) },
    }
    const { child, texts, ended } = startOther(t, 'script', ['-qec', line, '/dev/null'], { env })
    await until('the question', () => texts.stdout.includes('password: '))
    child.stdin.write(`wrong\u007f\u007f\u007f\u007f\u007f${secret}\r`)
    const { code, stdout: seen } = await ended
    const document = documentIn(join(folderIn(join(own, 'out')), 'run.json'))
    assertDone({ code: Number(code), document, stderr: seen })
    assert.equal(document.items.acked, 40)
    for (const text of [seen, ...textsUnder(own)]) assertSecret(text)
  })

  test('the password of an embedded target is in no process list', async (t) => {
    const own = ownFolder(t, 'runtime')
    const writer = startProducer(t, '-q 20 -p 200 --cluster --shards 1 --quiet', { runtimeDir: own })
    const state = await until('the state file', () => {
      const [text] = textsSoFar(own).filter((found) => found.includes('"password"'))
      return text && JSON.parse(text)
    })
    const { password } = state.access
    const lists = readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .flatMap((pid) => ['cmdline', 'environ'].map((file) => join('/proc', pid, file)))
    let read = 0
    for (const path of lists) {
      let text = ''
      try {
        text = readFileSync(path, 'latin1')
        read++
      } catch {
        continue // ended, or of another user
      }
      assert.ok(!text.includes(password), path)
    }
    assert.ok(read > 6)
    await until('a second of load', () => writer.intervals().length > 0)
    writer.kill('SIGINT')
    const { code, stdout, stderr, folder } = await writer.ended
    assert.equal(code, 130)
    for (const text of [stdout, stderr, ...textsUnder(folder)]) assert.ok(!text.includes(password))
  })

  test('an experiment against an address that holds it, with an @ in the password', async (t) => {
    const server = await startServer(t)
    const tail = 'Tr0ub4dor'
    await server.redis.config('SET', 'requirepass', `a@${tail}`)
    const own = ownFolder(t, 'experiment')
    const file = join(own, 'mine.json')
    const out = join(own, 'out')
    writeFileSync(
      file,
      JSON.stringify({
        id: 'mine',
        question: 'What does a reader cost?',
        options: { quantity: 200, ttl: '1s' },
        cells: [{ name: 'read', consumer: { consumers: 1 } }],
      }),
    )
    const words = `run ${file} --seconds 2 --warm-up 0 --out ${out} --allow foreign-keys`
    const url = `redis://:a@${tail}@${server.host}:${server.port}`
    const { child, texts, ended } = startOther(
      t,
      process.execPath,
      [join(project, 'scripts/experiment.js'), ...words.split(' '), '--url', url],
      { env: { ...testEnvironment(process.env), XDG_RUNTIME_DIR: own, REDIS_PASSWORD: 'not this one' } },
    )
    const programs = () => childrenOf(child.pid).map(({ line }) => line)
    const both = await until('a writer and its reader', () => {
      const lines = child.exitCode === null ? programs() : []
      return ['producer.js', 'consumer.js'].every((name) => lines.some((line) => line.includes(name)))
        ? lines
        : null
    })
    for (const line of both) assert.ok(!line.includes(tail), line)
    const turns = () =>
      textsSoFar(own).filter((text) => text.startsWith('{"cell":"read"') && text.includes('"legs":[{'))
    await until(
      'a run with a result',
      () => turns().length > 0 || assert.equal(child.exitCode, null, texts.stderr),
    )
    child.kill('SIGINT')
    const { code, stdout, stderr } = await ended
    assert.equal(code, 130, stderr)
    const files = textsUnder(out)
    const address = `--url redis://${server.host}:${server.port}`
    assert.ok(files.some((text) => text.includes(address)))
    for (const text of [stdout, stderr, ...files]) assert.ok(!text.includes(tail), text.slice(0, 2000))
  })
})
