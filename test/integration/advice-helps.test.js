// Advice helps: see test/helpers/advice.js. What there is of it is listed in test/unit/advice-list.test.js.
import assert from 'node:assert/strict'
import { adviceHelps } from '../helpers/advice.js'

const lookups = '--strategy lookup-get --keys 1k --fill'
const short = '--duration 1200ms --warm-up 0s' // a warm-up hides what was disturbed in it

adviceHelps({
  // The number of connections that is said with it: lookup.test.js.
  'lookups in open loop: operations in flight': {
    line: `write ${lookups} --rate 500 --connections 2 ${short}`,
    ...{ code: 'rate', says: /set --connections \d+ or (--pipeline \d+)$/, typed: ['$1'], on: 'far' },
  },
  'a query that takes longer than it may': {
    line: 'write --strategy query-scan --items 3000 --connections 1 --with query-timeout=10ms --duration 2s',
    ...{ code: 'cause', says: /within (--with query-timeout)/, typed: ['$1=60s'], on: 'far' },
  },
  'writers that are not here': {
    line: `write -q 400 -t 4 -a 1 ${short}`,
    ...{ code: 'absent-writers', says: /add (-a all)/, typed: ['$1'] },
  },
  'memory of items that die before they are written again': {
    line: 'write -q 2000 --ttl 1s --period 2s --duration 4s --warm-up 0s',
    ...{ says: /(--ttl) is shorter than (--period)/, typed: ['$1 60s', '$2 500ms'] },
  },
  'memory of new items': {
    line: 'write -q 1000 --once --ttl 2s --duration 1s --warm-up 0s',
    ...{ says: /run for longer \((--duration)\)/, typed: ['$1 4s'] },
  },
  'a consumer without a writer': {
    written: 'write --strategy list -q 100 --ttl 60s --duration 1s --prefix other:',
    line: 'read --strategy list --duration 1s',
    ...{ code: 'no-items', says: /set --strategy, (--prefix)/, typed: ['$1 other:'] },
  },
  'fetches more often than they take': {
    written: 'write -q 100 --ttl 60s --duration 1s',
    line: 'read -p 10ms --duration 1s',
    ...{ code: 'overrun', says: /less often \((-p)\)/, typed: ['$1 400ms'], on: 'far' },
    check: ({ fetches }, of) => assert.ok(fetches.overrun < of.fetches.overrun / 2, JSON.stringify(fetches)),
  },
  'values that are gone': {
    written: 'write -q 100 --ttl 60s --duration 1s',
    prepare: ({ redis }) => redis.del(Array.from({ length: 50 }, (_, i) => `item:${i + 1}`)),
    line: 'read --duration 1s',
    ...{ code: 'nils', says: /(--verify) shows why/, typed: ['$1'] },
    check: ({ verify }) => assert.ok(verify.missing > 0, JSON.stringify(verify)),
  },
  'values of an unknown plan': {
    written: 'write -q 100 --ttl 60s --duration 1s --seed 7 --value-size 100',
    prepare: ({ redis }) => redis.del('millrace:plan'),
    line: 'read --verify --duration 1s',
    ...{ code: 'verify-limited', says: /\(--payload, (--value-size), (--seed)\)/ },
    typed: ['$1 100 $2 7 --payload random'],
  },
  'workers of a queue without a producer': {
    written: 'write --strategy queue-list --rate 100 --duration 1s --prefix other:',
    line: 'read --strategy queue-list --workers 2 --duration 1s',
    ...{ code: 'no-jobs', says: /set --strategy, (--prefix)/, typed: ['$1 other:'] },
  },
})
