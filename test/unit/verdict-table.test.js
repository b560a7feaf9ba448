import assert from 'node:assert/strict'
import test from 'node:test'
import { causeOf, ruleOf } from '../../lib/transport/refusals.js'
import { rowsOf } from '../helpers/table.js'

const from = '10.0.0.1:7000'

// A refusal, what follows from it, its cause, and of a redirect its slot and address, and where it came from.
// What the simulated cluster refuses (test/simulation/faults.js) is played there.
const refusals = rowsOf(`
MOVED 3999 10.0.0.2:6381 -> there -> MOVED -> 3999 -> 10.0.0.2:6381
MOVED 0 node-2.example:6381 -> there -> MOVED -> 0 -> node-2.example:6381
MOVED 5 :7001 -> there -> MOVED -> 5 -> 10.0.0.1:7001
MOVED 5 ?:7001 -> there -> MOVED -> 5 -> 10.0.0.1:7001
MOVED 5 :7001 -> there -> MOVED -> 5 -> [fd00::1]:7001 -> [fd00::1]:7000
MOVED 5 fd00::2:7001 -> there -> MOVED -> 5 -> [fd00::2]:7001
MOVED 5 ::1:7001 -> there -> MOVED -> 5 -> [::1]:7001 -> [::1]:7000
ASK 16383 10.0.0.2:6381 -> asking -> ASK -> 16383 -> 10.0.0.2:6381
ASK 16383 :6381 -> asking -> ASK -> 16383 -> 10.0.0.1:6381
NOSCRIPT No matching script. Please use EVAL. -> load -> NOSCRIPT
WRONGTYPE Operation against a key -> give-up -> WRONGTYPE
NOPERM this user has no permissions -> give-up -> NOPERM
NOAUTH Authentication required. -> give-up -> NOAUTH
NOREPLICAS Not enough good replicas to write. -> give-up -> NOREPLICAS
CROSSSLOT Keys in request -> give-up -> CROSSSLOT
BUSYKEY Target key name already exists. -> give-up -> BUSYKEY
MOVED -> give-up -> MOVED
MOVED 5 -> give-up -> MOVED
ERR unknown command 'HSETEX', with args -> give-up -> ERR unknown command
ERR max number of clients reached -> give-up -> ERR max clients
ERR value is not an integer -> give-up -> ERR
 -> give-up -> ERR
constructor of nothing -> give-up -> ERR
`)
for (const [line, action, cause, slot, address, at = from] of refusals)
  test(`${line || 'an empty line'}${at === from ? '' : ` from ${at}`}: ${action}`, () =>
    assert.deepEqual(ruleOf(line, at), { action, cause, ...(slot && { slot: Number(slot), address }) }))

test('whatever a server says, its cause is short', () => {
  for (const line of ['A'.repeat(200), 'Err x', 'x y', '-', 'E', 'ERR'.repeat(20)])
    assert.ok(causeOf(line).length <= 31, line)
})
