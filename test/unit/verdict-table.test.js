import assert from 'node:assert/strict'
import test from 'node:test'
import { causeOf, ruleOf } from '../../lib/transport/refusals.js'

const from = '10.0.0.1:7000'

for (const { line, at = from, ...verdict } of [
  { line: 'MOVED 3999 10.0.0.2:6381', action: 'there', cause: 'MOVED', slot: 3999, address: '10.0.0.2:6381' },
  {
    line: 'MOVED 0 node-2.example:6381',
    action: 'there',
    cause: 'MOVED',
    slot: 0,
    address: 'node-2.example:6381',
  },
  { line: 'MOVED 5 :7001', action: 'there', cause: 'MOVED', slot: 5, address: '10.0.0.1:7001' },
  { line: 'MOVED 5 ?:7001', action: 'there', cause: 'MOVED', slot: 5, address: '10.0.0.1:7001' },
  {
    line: 'MOVED 5 :7001',
    at: '[fd00::1]:7000',
    action: 'there',
    cause: 'MOVED',
    slot: 5,
    address: '[fd00::1]:7001',
  },
  { line: 'MOVED 5 fd00::2:7001', action: 'there', cause: 'MOVED', slot: 5, address: '[fd00::2]:7001' },
  {
    line: 'MOVED 5 ::1:7001',
    at: '[::1]:7000',
    action: 'there',
    cause: 'MOVED',
    slot: 5,
    address: '[::1]:7001',
  },
  { line: 'ASK 16383 10.0.0.2:6381', action: 'asking', cause: 'ASK', slot: 16383, address: '10.0.0.2:6381' },
  { line: 'ASK 16383 :6381', action: 'asking', cause: 'ASK', slot: 16383, address: '10.0.0.1:6381' },
  { line: 'TRYAGAIN Multiple keys request during rehashing of slot', action: 'later', cause: 'TRYAGAIN' },
  { line: 'CLUSTERDOWN The cluster is down', action: 'later', cause: 'CLUSTERDOWN' },
  { line: 'CLUSTERDOWN Hash slot not served', action: 'later', cause: 'CLUSTERDOWN' },
  { line: 'MASTERDOWN Link with MASTER is down', action: 'later', cause: 'MASTERDOWN' },
  { line: 'LOADING Redis is loading the dataset in memory', action: 'later', cause: 'LOADING' },
  { line: 'BUSY Redis is busy running a script.', action: 'later', cause: 'BUSY' },
  { line: "READONLY You can't write against a read only replica.", action: 'later', cause: 'READONLY' },
  { line: 'NOSCRIPT No matching script. Please use EVAL.', action: 'load', cause: 'NOSCRIPT' },
  { line: "OOM command not allowed when used memory > 'maxmemory'.", action: 'give-up', cause: 'OOM' },
  { line: 'WRONGTYPE Operation against a key', action: 'give-up', cause: 'WRONGTYPE' },
  { line: 'NOPERM this user has no permissions', action: 'give-up', cause: 'NOPERM' },
  { line: 'NOAUTH Authentication required.', action: 'give-up', cause: 'NOAUTH' },
  { line: 'MISCONF Redis is configured to save RDB snapshots', action: 'give-up', cause: 'MISCONF' },
  { line: 'NOREPLICAS Not enough good replicas to write.', action: 'give-up', cause: 'NOREPLICAS' },
  { line: 'CROSSSLOT Keys in request', action: 'give-up', cause: 'CROSSSLOT' },
  { line: 'BUSYKEY Target key name already exists.', action: 'give-up', cause: 'BUSYKEY' },
  { line: 'MOVED', action: 'give-up', cause: 'MOVED' },
  { line: 'MOVED 5', action: 'give-up', cause: 'MOVED' },
  { line: "ERR unknown command 'HSETEX', with args", action: 'give-up', cause: 'ERR unknown command' },
  { line: 'ERR max number of clients reached', action: 'give-up', cause: 'ERR max clients' },
  { line: 'ERR value is not an integer', action: 'give-up', cause: 'ERR' },
  { line: '', action: 'give-up', cause: 'ERR' },
  { line: 'constructor of nothing', action: 'give-up', cause: 'ERR' },
]) {
  test(`${line || 'an empty line'}${at === from ? '' : ` from ${at}`}: ${verdict.action}`, () => {
    assert.deepEqual(ruleOf(line, at), verdict)
  })
}

test('whatever a server says, its cause is short', () => {
  for (const line of ['A'.repeat(200), 'Err x', 'x y', '-', 'E', 'ERR'.repeat(20)]) {
    assert.ok(causeOf(line).length <= 31, line)
  }
})
