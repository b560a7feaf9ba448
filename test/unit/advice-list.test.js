// Every option that a reason or note advises is typed in a case of test/integration/advice-*.test.js (test/helpers/advice.js), or a
// line here says why it needs none. So is the advice of every cause of errors.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { adviceByCause } from '../../lib/loads/advice.js'
import { codeOf, modulesIn, sourceOf } from '../helpers/sources.js'
import { rowsOf } from '../helpers/table.js'

// Options that no case types, and why.
const untyped = rowsOf(`
-t --threads --driver --with processes -> a process is at its limit only on a machine whose cores are free
--warm-up -> a run has a tick in its window unless it is stopped in its warm-up
--max-behind -> it is looked up in the result of the writer, whose own reasons say what to set
--limit -> the case of its advice types -p, which is advised with it
--once -> the case of its advice has it
--with confirm -> test/integration/queue-kills.test.js kills workers with it and without it
--with outputs -> it is named as what drains a second queue, which only a run with it fills
--maxmemory -> test/integration/cache.test.js gives caches less than they need
--with delay -> the proxy adds what it is asked for, unless others take the CPU
--same-slot -> a cluster refuses a plan whose commands would cross slots before its first write
--items -> a pass over few keys grows the memory of the servers by too little to tell
--cluster -> test/integration/producer.test.js types it where a server is part of a cluster
--driver-option -> test/integration/answer-limit.test.js types it
--username --password -> test/integration/acl.test.js types it
`)

// Causes of errors, and where their advice is typed, or why it is not.
const causes = rowsOf(`
OOM READONLY WRONGTYPE TIMEOUT -> a case types it
MOVED ASK TRYAGAIN CLUSTERDOWN NOSCRIPT LOADING MASTERDOWN NOREPLICAS BUSY MISCONF CLOSED WAIT -> it says what to wait for or to repair
CROSSSLOT -> a cluster refuses a plan whose commands would cross slots before its first write
NOAUTH WRONGPASS NOPERM -> test/integration/acl.test.js types it
ERR -> it names the log of the server
UNANSWERED -> test/integration/answer-limit.test.js types it
`)
const other = ['ERR unknown command', 'ERR max clients'] // an older server, and what to wait for

const optionsIn = (/** @type {string} */ text) =>
  text.match(/(?<![\w-])(?:--with [a-z-]+|--?[a-z][a-z-]*)\b/g) ?? []

test('every option that is advised is typed by a test, or needs none', () => {
  // Modules whose messages are reasons and notes.
  const modules = modulesIn('lib/loads', 'lib/measures', 'lib/run', 'lib/probes').filter((path) =>
    /(reasons|advice|in-flight|(ticks|bundles|jobs|fetches|workers)\/index|placement|memory-cost)\.js$|^lib\/measures\/.*\.js$/.test(
      path,
    ),
  )
  const code = modules.map(codeOf).join('\n')
  const cases = modulesIn('test/integration').filter((path) => path.includes('/advice-'))
  const lines = cases.flatMap((path) => sourceOf(path).split('\n'))
  const typed = new Set(optionsIn(lines.filter((line) => /\b(says|typed):/.test(line)).join('\n')))
  const left = new Set(optionsIn(code).filter((option) => !typed.has(option)))
  assert.deepEqual([...left].sort(), untyped.flatMap(([options]) => optionsIn(options)).sort())
  const listed = causes.flatMap(([names]) => names.split(' '))
  assert.deepEqual([...adviceByCause.keys()].sort(), [...listed, ...other].sort())
  for (const [, why] of [...untyped, ...causes])
    for (const [path] of why.matchAll(/test\/\S+\.js/g)) assert.ok(sourceOf(path), path)
})
