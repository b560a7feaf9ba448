// Advice is typed: what a reason or a warning says to set is accepted on the command line of a run that gets it.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readSettings } from '../../lib/options/read-settings.js'
import { modulesIn, sourceOf } from '../helpers/sources.js'
import { lineWith, rowsOf } from '../helpers/table.js'

/**
 * A file, words in it, and what is typed: the line of a run that gets these words, and then what they say, each apart. The
 * option is replaced where the run has it already.
 * @type {Record<string, string[][]>}
 */
const advice = {
  'loads/advice.js': rowsOf(`
use --spread or --same-slot -> write --ns 4 --ws -> --spread | --same-slot
name a master in --url, or use --cluster -> write --host h -> --cluster
name a master in --url -> write -> --url redis://h:7000
set --username and --password -> write --host h -> --username me --password-file secret
correct --username and --password -> write --url redis://h:1 -> --username me --password-file secret
choose another --prefix -> write --prefix a: -> --prefix b:
choose another --prefix -> write --strategy counter-loop -> --prefix b:
another --strategy -> write --strategy hash-ttl -> --strategy hash
within --with query-timeout -> write --strategy query-scan -> --with query-timeout=30s
answerLimit of --driver-option -> write --driver ioredis -> --driver-option answerLimit=60000
`),
  'loads/clients/in-flight.js': rowsOf(`
: set \${ -> write --strategy lookup-get --keys 50k --fill --rate 150k --connections 2 --pipeline 1 -> --connections 64 | --pipeline 32 | --connections 10000 | --pipeline 10000
: set \${ -> write --strategy queue-list --rate 150k -> --connections 64 | --pipeline 32
: set \${ -> write --strategy query-scan --rate 2k --connections 2 -> --connections 64
: set \${ -> write --strategy update-watch --rate 2k --connections 2 -> --connections 64
`),
  'loads/bundles/index.js': rowsOf(`
raise --with bundle-size -> write --strategy counter-script --rate 20000 -> --with bundle-size=10000
`),
  'measures/bundles.js': rowsOf(`
a longer --with delay -> write --strategy counter-loop --with delay=1ms -> --with delay=5ms
`),
  'measures/passes.js': rowsOf(`
more --items show it -> write --strategy membership-flat --items 1000 -> --items 100k
`),
  'measures/queries.js': rowsOf(`
(--duration), or give it more time (--with query-timeout) -> write --strategy query-scan --duration 5s -> --duration 60s | --with query-timeout=30s
raise --with update-writers, or lower --with update-rate -> write --strategy query-scan --with update-writers=2,update-rate=500 -> --with update-writers=20 | --with update-writers=2,update-rate=50
choose another --prefix -> write --strategy update-get-set --prefix a: -> --prefix b:
`),
  'measures/cache.js': rowsOf(`
give less by --maxmemory -> write --strategy cache-aside --maxmemory 50MB -> --maxmemory 2MB
`),
  'measures/account.js': rowsOf(`
lower --take -> read --strategy queue-stream --workers 4 --take 100 -> --take 10
--with confirm keeps them -> read --strategy queue-list --workers 4 -> --with confirm
--with confirm keeps them -> read --strategy queue-zset --workers 4 -> --with confirm
set --strategy, --prefix -> read --strategy queue-list --workers 4 -> --strategy queue-stream | --prefix b:
`),
  'measures/workers.js': rowsOf(`
workers a process (--with processes) -> read --strategy queue-list --workers 4 --work sleep:1ms -> --with processes=2
more cores (--with processes -> read --strategy queue-list --workers 4 --work cpu:1ms -> --with processes=2
`),
  'loads/workers/index.js': rowsOf(`
which only --with outputs drains -> read --strategy queue-stream --workers 4 -> --with outputs=2
set --workers  -> read --strategy queue-list --workers 4 -> --workers 20
lower --reconnects -> read --strategy queue-stream --workers 4 --reconnects 50 -> --reconnects 5
`),
  'loads/ticks/index.js': rowsOf(`
(--period  -> write -q 30 --period 10ms -> -q 163 --period 54ms
set -q  -> write -q 30 --rate 3000 -> -q 163
raise --window -> write -q 30 --period 10ms -> --window 8MB
`),
  'loads/fetches/index.js': rowsOf(`
run for longer (--duration), or fetch less (--limit) -> read --duration 5s -> --duration 60s | --limit 100
see its result (-q, --max-behind) -> write -q 5000 -> -q 2000 | --max-behind 10s
give the --ttl it writes with -> read -> --ttl 30s
set --strategy, --prefix -> read -> --strategy list | --prefix b:
more boxes (-t) -> read -> -t 4
raise --threads -> read --consumers 4 -> --threads 2
--driver socket -> read --driver ioredis -> --driver socket
read less (--limit) or less often (-p) -> read -> --limit 100 | -p 2s
(--payload, --value-size, --seed) -> read --verify -> --payload random | --value-size 100 | --seed 7
a --ttl old; run for longer (--duration) -> read --verify --duration 5s -> --duration 60s | --ttl 5s
--verify shows why -> read -> --verify
`),
  'loads/writer-reasons.js': rowsOf(`
'raise --window' -> write -q 50000 -> --window 8MB
'raise --window' -> write --rate 50000 -> --window 8MB
'raise --pipeline' -> write -q 50000 --pipeline 10 -> --pipeline 1000
raise --threads -> write --rate 50000 -> --threads 2
(--duration, --warm-up) -> write --period 5s --duration 6s --warm-up 5s -> --duration 60s | --warm-up 1s
one --period -> write --duration 1s -> --period 200ms
add -a all -> write -t 4 -a 1 -> -a all
--driver socket -> write --driver ioredis -> --driver socket
--driver socket -> write --driver ioredis --strategy lookup-get -> --driver socket
(-t, -a auto) -> write --rate 50000 -> -t 2 -a auto
(-t, -a auto) -> write --strategy queue-list --rate 50000 -> -t 2 -a auto
a --prefix of its own -> write --strategy lookup-get --rate 50000 -> --prefix b:
a --prefix of its own -> write --strategy update-watch -> --prefix b:
measure for longer (--duration) -> write --strategy lookup-get --duration 5s -> --duration 60s
A --guard that allows -> write -> --guard off
`),
  'probes/memory-cost.js': rowsOf(`
--ttl is shorter than --period -> write --ttl 2s --period 5s -> --ttl 10s | --period 1s
with --once -> write --once --ttl 10s --duration 5s -> --duration 30s
take another --prefix -> write -> --prefix b:
`),
  'measures/reconnects.js': rowsOf(`
lower --reconnects or raise --connections -> write --strategy lookup-get --reconnects 100 -> --reconnects 5 | --connections 200
`),
}

for (const [file, rows] of Object.entries(advice))
  describe(`what lib/${file} says to set`, () => {
    const text = sourceOf(`lib/${file}`)
    for (const [words, run, all] of rows)
      for (const typed of all.split(' | '))
        test(`${typed}, to ${run}`, () => {
          assert.ok(text.includes(words), `lib/${file} does not say '${words}' any more`)
          const [command, ...argv] = lineWith(run, typed).split(' ')
          const program = command === 'read' ? 'consumer' : 'producer'
          const settings = readSettings({ program, argv, env: {} })
          assert.ok('given' in settings, 'it prints a help')
        })
  })

test('every option that a reason names is typed here', () => {
  const isOfReasons = /^(measures\/|loads\/.*(reasons|advice|in-flight|(ticks|bundles|jobs).index)\.js$)/
  const files = modulesIn('lib').map((path) => path.slice('lib/'.length))
  for (const file of [...files.filter((file) => isOfReasons.test(file)), 'probes/memory-cost.js']) {
    const strings = sourceOf(`lib/${file}`)
      .split('\n')
      .filter((line) => !/^\s*(\*|\/\*|\/\/)/.test(line) && /['`]/.test(line))
      .join('\n')
    const named = new Set(
      strings.match(/(?<=[\s('`])--with [a-z-]+|(?<=[\s('`])--[a-z][a-z-]+|(?<=[\s(])-[a-z](?=[,)\s'`])/g),
    )
    const typed = (advice[file] ?? []).flatMap(([words, , all]) => [words, all]).join(' ')
    for (const option of named)
      assert.match(typed, new RegExp(`(^|[\\s('])${option}(?![\\w-])`), `lib/${file} names ${option}`)
  }
})
