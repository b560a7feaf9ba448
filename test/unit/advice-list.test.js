// Every option that a reason or note advises is typed in a case of test/integration/advice-*.test.js (test/helpers/advice.js), or a
// line here says why it needs none. So is the advice of every cause of errors.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { adviceByCause } from '../../lib/loads/advice.js'

const busy = 'none: a process is at its limit only on a machine whose cores are free'

/** @type {Record<string, Record<string, string>>} by module and option: the name of the case, or 'none: ' and why */
const advised = {
  'lib/loads/writer-reasons.js': {
    '--window': 'a window smaller than a batch',
    '--pipeline': 'few commands in flight',
    '--duration':
      'none: how many operations are few depends on the machine; test/simulation/advice.test.js plays it',
    '--warm-up': 'none: a run has a tick in its window unless it is stopped in its warm-up',
    '--period': 'none: a run has a tick in its window unless it is stopped in its warm-up',
    '-a': 'writers that are not here',
    '-t': busy,
    '--driver': busy,
    '--prefix': 'a key of another type',
  },
  'lib/loads/fetches/reasons.js': {
    '--duration':
      'none: a fetch that has begun is waited for, and a plan that replaced another is soon a --ttl old',
    '--limit': 'fetches more often than they take',
    '-p': 'fetches more often than they take',
    '-q': 'none: it is looked up in the result of the writer, whose own reasons say what to set',
    '--max-behind': 'none: it is looked up in the result of the writer, whose own reasons say what to set',
    '--ttl':
      'none: it is said where a HyperLogLog counts items that the list has lost, and the writer has to be repaired',
    '--strategy': 'a consumer of another strategy',
    '--prefix': 'a consumer without a writer',
    '-t': 'none: it is looked up in the result of the writer, whose own reasons say what to set',
    '--driver': busy,
    '--payload': 'values of an unknown plan',
    '--value-size': 'values of an unknown plan',
    '--seed': 'values of an unknown plan',
    '--verify': 'values that are gone',
  },
  'lib/loads/workers/reasons.js': {
    '--take': 'jobs in hand at the end',
    '--confirm': 'none: test/integration/queue-kills.test.js kills workers with it and without it',
    '--strategy': 'workers of another queue',
    '--prefix': 'workers of a queue without a producer',
    '--workers': 'fewer workers than the jobs need',
    '--processes': busy,
    '--outputs': 'none: it is named as what drains a second queue, which only a run with it fills',
    '--reconnects': 'none: whether a run of workers has the reason depends on the machine',
  },
  'lib/loads/clients/in-flight.js': {
    '--connections': 'lookups in open loop: connections',
    '--pipeline': 'lookups in open loop: operations in flight',
  },
  'lib/loads/chunks/index.js': {
    '--chunk-size': 'chunks that are too small',
    '--delay': 'none: the proxy adds what it is asked for, unless others take the CPU',
  },
  'lib/loads/clients/reasons.js': {
    '--duration': 'a query that takes longer than it may',
    '--prefix': 'a key of another type',
    '--query-timeout': 'a query that takes longer than it may',
    '--update-writers': 'few writers of updates',
    '--update-rate': 'few writers of updates',
  },
  'lib/loads/ticks/index.js': {
    '-q': 'an item that is due again before it is stored',
    '--period': 'an item that is due again before it is stored',
    '--window': 'a window smaller than a batch',
  },
  'lib/loads/advice.js': {
    '--spread': 'none: a cluster refuses a plan whose commands would cross slots before its first write',
    '--same-slot': 'none: a cluster refuses a plan whose commands would cross slots before its first write',
    '--url': 'a master that becomes a replica',
    '--cluster': 'none: test/integration/producer.test.js types it where a server is part of a cluster',
    '--driver-option': 'none: test/integration/answer-limit.test.js types it',
    '--username': 'none: test/integration/acl.test.js types it',
    '--password': 'none: test/integration/acl.test.js types it',
    '--prefix': 'a key of another type',
    '--strategy': 'none: it takes an older server; test/peers has them',
    '--query-timeout': 'a query that takes longer than it may',
  },
  'lib/run/placement.js': {
    '--ns': 'fewer sorted sets than shards',
    '--spread': 'sorted sets that lie unevenly',
  },
  'lib/measure/memory-cost.js': {
    '--ttl': 'memory of items that die before they are written again',
    '--period': 'memory of items that die before they are written again',
    '--once': 'memory of new items',
    '--duration': 'memory of new items',
    '--prefix': 'ids of an earlier run',
  },
  'lib/measures/reconnects.js': {
    '--reconnects': 'connections of clients that are all being opened again',
    '--connections': 'connections of clients that are all being opened again',
  },
}

const waits = 'none: it says what to wait for or to repair, and no option'
/** @type {Record<string, string>} */
const causes = {
  OOM: 'a server at its memory limit',
  ...Object.fromEntries(
    ['MOVED', 'ASK', 'TRYAGAIN', 'CLUSTERDOWN', 'NOSCRIPT'].map((cause) => [cause, waits]),
  ),
  ...Object.fromEntries(
    ['LOADING', 'MASTERDOWN', 'NOREPLICAS', 'BUSY', 'MISCONF'].map((cause) => [cause, waits]),
  ),
  CROSSSLOT: advised['lib/loads/advice.js']['--spread'],
  READONLY: 'a master that becomes a replica',
  NOAUTH: 'none: test/integration/acl.test.js types it',
  WRONGPASS: 'none: test/integration/acl.test.js types it',
  NOPERM: 'none: test/integration/acl.test.js extends the ACL',
  WRONGTYPE: 'a key of another type',
  ERR: 'none: it names the log of the server',
  'ERR unknown command': advised['lib/loads/advice.js']['--strategy'],
  'ERR max clients': waits,
  TIMEOUT: 'a query that takes longer than it may',
  UNANSWERED: 'none: test/integration/answer-limit.test.js types it',
  CLOSED: waits,
}

const root = new URL('../../', import.meta.url)
const textOf = (/** @type {string} */ path) => readFileSync(new URL(path, root), 'utf8')
const withoutComments = (/** @type {string} */ text) =>
  text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '')

/** Modules whose messages are reasons and notes. */
const modules = ['lib/loads', 'lib/measures', 'lib/run', 'lib/measure']
  .flatMap((folder) =>
    readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' }).map(
      (name) => `${folder}/${name.replaceAll('\\', '/')}`,
    ),
  )
  .filter((path) =>
    /(reasons|advice|in-flight|(ticks|chunks|jobs)\/index|placement|memory-cost)\.js$|^lib\/measures\/.*\.js$/.test(
      path,
    ),
  )

test('every option that is advised is typed by a test, or needs none', () => {
  const found = modules.flatMap((path) => {
    const options = withoutComments(textOf(path)).match(/(?<![\w-])--?[a-z][a-z-]*\b/g) ?? []
    return [...new Set(options)].map((option) => `${path} ${option}`)
  })
  const listed = Object.entries(advised).flatMap(([path, options]) =>
    Object.keys(options).map((option) => `${path} ${option}`),
  )
  assert.deepEqual(found.toSorted(), listed.toSorted())
  assert.deepEqual([...adviceByCause.keys()].toSorted(), Object.keys(causes).toSorted())
})

test('every case that is named is there', () => {
  const tests = readdirSync(new URL('test/integration', root)).filter((name) => /^advice-/.test(name))
  const all = tests.map((name) => textOf(`test/integration/${name}`)).join('\n')
  const named = [
    ...Object.values(advised).flatMap((options) => Object.values(options)),
    ...Object.values(causes),
  ]
  for (const name of named)
    if (!name.startsWith('none: ')) assert.ok(all.includes(`'${name}': {`), `there is no case '${name}'`)
    else for (const [path] of name.matchAll(/test\/\S+\.js/g)) assert.ok(textOf(path), path)
})
