import assert from 'node:assert/strict'
import test from 'node:test'
import { parseInfo } from '../../lib/wire/info.js'
import { valuesOf } from '../helpers/table.js'

const lines = (/** @type {string[]} */ ...all) => `${all.join('\r\n')}\r\n`

test('plain lines, whatever their section; a value may hold colons', () => {
  const { fields } = parseInfo(
    lines('# Server', 'redis_version:7.0.15', 'config_file:', '', '# Stats', 'master_host:fd00::1'),
  )
  assert.deepEqual(fields, { redis_version: '7.0.15', config_file: '', master_host: 'fd00::1' })
})

test('commandstats of 6.2 (three figures) and of 7.0 (five, subcommands by name)', () => {
  const { commands } = parseInfo(
    lines(
      'cmdstat_setex:calls=3,usec=12,usec_per_call=4.00',
      'cmdstat_config|get:calls=2,usec=21,usec_per_call=10.50,rejected_calls=0,failed_calls=1',
    ),
  )
  assert.deepEqual(commands, { setex: { calls: 3, usec: 12 }, 'config|get': { calls: 2, usec: 21 } })
})

test('databases and replicas', () => {
  const { databases, replicas, fields } = parseInfo(
    lines(
      'slave0:ip=fd00::2,port=6380,state=online,offset=900,lag=1',
      'slave1:ip=10.0.0.3,port=6380,state=wait_bgsave,offset=0,lag=0',
      'slave_repl_offset:17',
      'db0:keys=5,expires=2,avg_ttl=900',
      'db12:keys=1,expires=0,avg_ttl=0,subexpiry=0',
    ),
  )
  const expected = 'fd00::2 online 900 10.0.0.3 wait_bgsave 0'
  assert.equal(valuesOf(replicas, 'ip', 'state', 'offset').join(' '), expected)
  assert.deepEqual(Object.keys(databases), ['db0', 'db12'])
  assert.deepEqual(valuesOf(Object.values(databases), 'keys'), ['5', '1'])
  assert.deepEqual(fields, { slave_repl_offset: '17' })
})

test('nothing at all', () =>
  assert.deepEqual(parseInfo(''), { fields: {}, commands: {}, databases: {}, replicas: [] }))
