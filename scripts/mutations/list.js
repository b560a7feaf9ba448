// Faults of one line each, as a change might introduce them. `line` is in the file exactly once.

/**
 * @typedef {object} Mutation
 * @property {string} file
 * @property {string} line
 * @property {string} becomes
 * @property {string} breaks
 * @property {string[]} unit the tests of test/unit that look for it, or of another folder that `npm test` runs
 * @property {'socket' | 'clients' | 'bundles' | 'none'} [simulated] which seeds are played; those of the socket
 * @property {string} [seeds] others than those of `npm test`, such as 1-1000
 */

const decode = { file: 'lib/wire/decode.js', unit: ['decode'] }
const flight = { file: 'lib/transport/lane.js', unit: ['lane'] }
const queue = { file: 'lib/transport/send-queue.js', unit: ['send-queue'] }
const reconnecting = { file: 'lib/transport/reconnecting-socket.js', unit: ['reconnecting-socket'] }
const pool = { file: 'lib/transport/server-queues.js', unit: ['pool', 'drops'] }
const policy = { file: 'lib/transport/policy.js', unit: [] }
const silence = { file: 'lib/transport/net.js', unit: [] }
const confirmed = { file: 'lib/servers/confirmed-servers.js', unit: ['confirmed-servers'] }
const slotQueues = { file: 'lib/transport/write-retries.js', unit: ['slot-queues'] }
const repeats = { file: 'lib/transport/write-retries.js', unit: [] }
const ledger = { file: 'lib/probes/ledger.js', unit: ['ledger'] }
const itemTimes = { file: 'lib/probes/item-times.js', unit: ['item-times'] }
const batchBytes = { file: 'lib/transport/batch-bytes.js', unit: ['batch-bytes'] }
const slotMap = { file: 'lib/transport/slot-map.js', unit: ['slot-map'] }
const socket = { file: 'lib/transport/socket-writer.js', unit: ['drops', 'moved'] }
const scheduled = { file: 'lib/loads/ticks/writer.js', unit: ['writer'] }
const clients = { unit: [], simulated: /** @type {const} */ ('clients') }
const operation = { ...clients, file: 'lib/loads/clients/operation.js' }
const requestRetries = { ...clients, file: 'lib/transport/router.js' }
const lane = { ...clients, file: 'lib/transport/lane.js', unit: ['lane'] }
const flying = { ...lane, file: 'lib/transport/lane.js' }
const bundles = {
  file: 'lib/loads/bundles/flow.js',
  unit: [],
  simulated: /** @type {const} */ ('bundles'),
}
const dues = { ...clients, file: 'lib/loads/dues.js' }

const alone = { simulated: /** @type {const} */ ('none') }
const ending = { ...alone, file: 'lib/cli/ending.js', unit: ['exit-codes'] }
const limits = { ...alone, file: 'lib/result/thresholds.js', unit: ['compare'] }
const verifying = { ...alone, file: 'lib/run/check-written.js', unit: ['acked-ranges'] }
const secrets = { ...alone, file: 'lib/cli/start.js', unit: ['redact'] }
const ticks = { ...alone, file: 'lib/loads/ticks/ticker.js', unit: ['ticker'] }
const scripts = { ...alone, unit: ['contract/scripts'] }
const release = { ...alone, unit: ['release'] }
const notes = { ...release, file: 'scripts/release.js' }
const packed = { ...release, file: 'package.json' }
const workflow = { ...release, file: '.github/workflows/release.yml' }
const front = { ...alone, file: 'lib/cli/millrace.js', unit: ['commands'] }
const completion = { ...front, file: 'lib/cli/commands/completion.js' }

/** @type {Mutation[]} */
export const mutations = [
  { ...decode, line: 'at += 5', becomes: 'at += 4', breaks: 'the step over +OK is short by one byte' },
  { ...decode, line: 'return length + 2', becomes: 'return length + 1', breaks: 'a bulk ends a byte early' },
  {
    ...decode,
    line: 'left += count - 1',
    becomes: 'left += count',
    breaks: 'an array waits for one element more',
  },
  {
    ...decode,
    line: 'cut = Buffer.from(bytes.subarray(at))',
    becomes: 'cut = bytes.subarray(at)',
    breaks: 'a cut line is a view of the read buffer',
  },
  {
    ...decode,
    line: 'if (left > 1 || nested) return element()',
    becomes: 'if (left > 1) return element()',
    breaks: 'an error that ends an array refuses the command',
  },
  { ...decode, line: 'open(2 * lengthIn(', becomes: 'open(lengthIn(', breaks: 'a map has half its elements' },
  {
    ...queue,
    line: 'if (entry.from + n === entry.to) ended(entry)',
    becomes: 'if (entry.from + n >= entry.to - 1) ended(entry)',
    breaks: 'the last command of an entry is settled with the one before',
  },
  {
    ...queue,
    line: 'const command = entry.from++',
    becomes: 'const command = ++entry.from',
    breaks: 'the command behind the refused one is repeated',
  },
  {
    ...queue,
    line: 'unansweredBytes -= entry.bytes',
    becomes: '',
    breaks: 'after --window bytes nothing more is sent',
  },
  {
    ...flight,
    line: 'if (flight.skips()) {\n          left--\n          continue\n        }',
    becomes: '',
    breaks: 'the answer to ASKING counts as the command’s',
  },
  {
    ...queue,
    line: 'if (!entry.inSlotQueue) underWay.begin(tick)',
    becomes: 'underWay.begin(tick)',
    breaks: 'repeats are under way for ever',
  },
  {
    ...pool,
    line: 'byChunk[tick.chunk][0].tick !== tick',
    becomes: 'byChunk[tick.chunk][0].tick.index > tick.index',
    breaks: 'two ticks of an item are unanswered at once',
  },
  {
    ...queue,
    line: 'if (slotQueues.any()) ({ from, to } = freeUntil(tickJobs, job, from, to))',
    becomes: '',
    breaks: 'later ticks pass a repeat',
  },
  {
    ...queue,
    line: 'while (stop < end && !waitsAt(stop)) stop++',
    becomes: 'stop = end',
    breaks: 'a held slot within a range is not seen',
  },
  {
    ...queue,
    line: 'else urgent.putFirst({ ...entry, from: cut.to })',
    becomes: 'else urgent.shift()',
    breaks: 'the rest of a long repeat is lost',
  },
  {
    ...queue,
    line: 'unansweredBytes >= maxUnansweredBytes) return 0',
    becomes: 'maxUnansweredBytes < 0) return 0',
    breaks: 'more than --window bytes are unanswered',
  },
  {
    ...queue,
    line: 'entry.lead > 0 ? Buffer.concat([askingBytes, cut.bytes]) : cut.bytes',
    becomes: 'cut.bytes',
    breaks: 'ASK is followed without ASKING',
  },
  {
    ...queue,
    line: 'events.onLost(entry)',
    becomes: '',
    breaks: 'what a lost connection had under way is forgotten',
  },
  {
    ...queue,
    line: 'marks[0].at <= finished',
    becomes: 'marks[0].at <= finished + 1',
    breaks: 'a slot is let go one answer too early',
  },
  {
    ...queue,
    line: 'if (finished === written) then()',
    becomes: 'if (finished <= written) then()',
    breaks: 'a slot is let go while its old server still answers',
  },
  {
    ...slotQueues,
    line: 'if (hold.pending > 0 || hold.drains > 0) return',
    becomes: 'if (hold.pending > 0) return',
    breaks: 'a hold ends though another server still answers',
  },
  {
    ...slotQueues,
    line: 'if (hold.pending > 0 || hold.drains > 0) return',
    becomes: 'if (hold.drains > 0) return',
    breaks: 'a hold ends with its first repeat',
  },
  {
    ...slotQueues,
    line: 'if (!entry.inSlotQueue) hold.pending',
    becomes: 'hold.pending',
    breaks: 'a command refused twice holds its slot for ever',
  },
  {
    ...slotQueues,
    line: 'hold.queue.filter((entry) => isOldest(hold.queue, entry))',
    becomes: 'hold.queue.slice()',
    breaks: 'all waiting ticks are let go at once',
  },
  {
    ...slotQueues,
    line: 'one.tick.chunk === tick.chunk',
    becomes: 'one.tick.chunk >= 0',
    breaks: 'ticks of a chunk wait for those of others',
  },
  {
    ...slotQueues,
    line: 'hold.pending -= n',
    becomes: 'hold.pending -= 1',
    breaks: 'several outcomes count as one',
  },
  {
    ...repeats,
    line: 'to, again: true',
    becomes: 'to, again: false',
    breaks: 'a repeat takes the bytes of a later tick',
  },
  {
    ...policy,
    line: "if (left && step.repeatable === false) return 'uncertain'",
    becomes: '',
    breaks: 'what must not be repeated is',
  },
  {
    ...repeats,
    line: 'if (entry.inSlotQueue) slotQueues.settle(slotIn(entry), n)',
    becomes: '',
    breaks: 'a hold is never let go',
  },
  {
    ...repeats,
    line: 'settle(entry, entry.to - entry.from)',
    becomes: '',
    breaks: 'a repeat that is given up keeps its hold',
  },
  { ...repeats, line: 'slotQueues.refuse(slot, one)', becomes: '', breaks: 'a refused command is forgotten' },
  {
    ...repeats,
    line: "if (action === 'there' && address) net.moved(slot, address)",
    becomes: '',
    breaks: 'MOVED is not learnt',
  },
  {
    ...repeats,
    line: 'entry.to && (inSlotQueue || batch.slotAt(to, values) === slot)',
    becomes: 'entry.to',
    breaks: 'lost commands of several slots wait in one',
  },
  {
    ...ledger,
    line: '      }\n      settle(account, n)',
    becomes: '      }\n      settle(account, n + 1)',
    breaks: 'an answer settles twice',
  },
  {
    ...ledger,
    line: 'if (account.worst[item] >= outcome) return',
    becomes: 'if (account.worst[item] > 0) return',
    breaks: 'the first loss counts, not the worst',
  },
  {
    ...ledger,
    line: 'for (let m = start; m < end; m++) mark(',
    becomes: 'for (let m = start + 1; m < end; m++) mark(',
    breaks: 'the first item of a lost command is acked',
  },
  { ...ledger, line: 'if (own) own[outcome] += items', becomes: '', breaks: 'nothing is counted by writer' },
  {
    ...batchBytes,
    line: 'if (busy.some((range) => range.from < end && start < range.to))',
    becomes: 'if (busy.length > 99)',
    breaks: 'bytes are patched while a socket holds them',
  },
  {
    ...batchBytes,
    line: 'if (kept.pass.commands === count) kept.low = values',
    becomes: 'kept.low = values',
    breaks: 'digits of commands that were not patched stay old',
  },
  {
    ...batchBytes,
    line: 'busy.splice(busy.indexOf(range), 1)',
    becomes: 'busy.splice(0, busy.length)',
    breaks: 'one write done frees the bytes of all',
  },
  {
    ...slotMap,
    line: 'lowerBound(batch.slots, ends[slot], from, high)',
    becomes: 'lowerBound(batch.slots, ends[slot] + 1, from, high)',
    breaks: 'a range takes the first slot of the next owner',
  },
  { ...slotMap, line: 'owners[slot] = index', becomes: '', breaks: 'a moved slot is not entered' },
  {
    ...socket,
    line: '    retries.slotQueues.drain([slot])\n',
    becomes: '',
    breaks: 'new commands of a moved slot do not wait for the old server',
  },
  {
    ...socket,
    line: 'if (pool) pool.whenDrained(release)',
    becomes: 'if (!pool) pool',
    breaks: 'a slot that left waits for ever',
  },
  {
    ...itemTimes,
    line: 'answered !== null && ',
    becomes: 'answered === null && ',
    breaks: 'an item of three commands is stored with the second',
  },
  {
    ...itemTimes,
    line: 'write < before ? write : before',
    becomes: 'write',
    breaks: 'the latency of an item begins with its last command',
  },
  {
    ...itemTimes,
    line: 'completed[by] = 0',
    becomes: 'completed[by] = 1',
    breaks: 'a latency is counted for an item too many',
  },
  {
    ...policy,
    unit: ['drops'],
    line: '!(tick.firstMs !== null && isUp)',
    becomes: 'true',
    breaks: 'half a tick is dropped when it is overtaken',
  },
  {
    file: 'lib/probes/costs.js',
    unit: ['costs'],
    line: 'due.acked === due.offered ? due.acked : acked',
    becomes: 'due.acked === due.offered ? due.acked : due.offered',
    breaks: 'what was dropped counts as stored, and takes no CPU',
  },
  {
    ...socket,
    line: 'for (const entry of retries.slotQueues.expired(deadline)) retries.lose',
    becomes: 'for (const entry of retries.slotQueues.expired(deadline)) void',
    breaks: 'what waited too long behind a hold is forgotten',
  },
  {
    ...socket,
    line: "ledger.lose(tick.account, batch, from, to, 'unsettled', '')",
    becomes: 'void [tick, batch, from, to]',
    breaks: 'what is under way at the end has no outcome',
  },
  {
    ...socket,
    line: 'for (let r = at; r < ranges.length; r += 2) {\n        ledger',
    becomes: 'for (let r = at; r < ranges.length; r += 4) {\n        ledger',
    breaks: 'every other range of a waiting tick that is lost has no outcome',
  },
  {
    ...pool,
    line: 'list[at - 1].tick.index > tick.index',
    becomes: 'list[at - 1].tick.index > tick.index + 999',
    breaks: 'what comes from a server that lost its slots goes behind later ticks',
  },
  {
    ...pool,
    line: 'if (isFree || (wasHeld && !isHeld)) for',
    becomes: 'if (isFree && wasHeld && !isHeld) for',
    breaks: 'a connection waits for ever for what another one has answered',
  },
  {
    ...pool,
    line: 'if (--left === 0) then()',
    becomes: 'if (--left === queues.length - 1) then()',
    breaks: 'a slot is let go when the first of the connections has answered',
  },
  {
    ...policy,
    line: 'address !== null && !follows(from, address)',
    becomes: 'false && !follows(from, String(address))',
    breaks: 'a redirect to anywhere is followed',
  },
  {
    ...silence,
    line: 'connection.cut()',
    becomes: '',
    breaks: 'a half-open connection is kept',
  },
  {
    ...confirmed,
    line: 'await check?.(address, layout)',
    becomes: '',
    breaks: 'a new master is not checked',
  },
  {
    ...queue,
    line: 'maxUnansweredCommands - lane.owed()',
    becomes: 'maxUnansweredCommands',
    breaks: 'more commands are in flight than --pipeline allows',
  },
  {
    ...scheduled,
    line: 'skip(i, pacer.dueMs(i))\n      }\n      if',
    becomes: '}\n      if',
    breaks: 'a tick that is too late has no outcome',
  },
  {
    ...flying,
    line: 'const left = owed - n',
    becomes: 'const left = owed - 1',
    breaks: 'the operation behind the refused one is retried',
  },
  {
    ...lane,
    line: 'if (flight.skips()) return\n      flight.take(1)\n      onRefused',
    becomes: 'flight.take(1)\n      onRefused',
    breaks: 'a refused ASKING counts as an operation',
  },
  {
    ...flying,
    line: 'place < this.#tail; place++)\n      all.push',
    becomes: 'place < this.#tail - 1; place++)\n      all.push',
    breaks: 'the last operation of a lost connection stays in it',
  },
  {
    ...lane,
    line: 'if (flight.isEmpty) socket.owesFrom(nowMs)',
    becomes: '',
    breaks: 'a connection that had nothing to do counts as silent',
  },
  {
    ...bundles,
    line: "ledger.lost('uncertain', 'CLOSED', isMeasured)",
    becomes: '',
    breaks: 'an item of a bundle whose reply was lost has no outcome',
  },
  {
    ...bundles,
    line: "if (isFromInside(line)) ledger.lost('uncertain', cause, isMeasured)\n      else if",
    becomes: 'if',
    breaks: 'a bundle that a script has counted in part is counted again',
    unit: ['bundles'],
  },
  {
    ...bundles,
    line: 'ns[left++] = ns[i]',
    becomes: 'left++',
    breaks: 'other items of a bundle are sent again than those that were refused',
    seeds: '61-70',
  },
  {
    ...bundles,
    line: 'bundle.goTo = null',
    becomes: '',
    breaks: 'after an ASK all later bundles go where it led, to keys that are still at the owner',
    unit: ['bundles'],
  },
  {
    ...dues,
    line: 'nowMs - dueMs > maxBehindMs ||',
    becomes: '',
    breaks: 'what is due is begun, however late',
  },
  {
    ...reconnecting,
    line: 'if (closed) opened.destroy()',
    becomes: '',
    breaks: 'a connection that opens after the end stays open',
  },
  {
    ...reconnecting,
    line: 'if (opened.destroyed || isLost) return',
    becomes: '',
    breaks: 'a connection that was lost as it opened counts as up',
  },
  {
    ...reconnecting,
    line: 'isUp: () => socket !== null && !retiring,',
    becomes: 'isUp: () => socket !== null,',
    breaks: 'commands are sent on a connection that is about to be renewed',
  },
  {
    ...reconnecting,
    line: 'if (!hasUnanswered()) letGo()\n      return true',
    becomes: 'letGo()\n      return true',
    breaks: 'a connection is renewed that still waits for replies',
  },
  {
    ...reconnecting,
    line: 'if (retiring && !hasUnanswered()) letGo()',
    becomes: '',
    breaks: 'a connection that is to be renewed is never closed',
  },
  {
    ...reconnecting,
    line: 'if (retiredMs === null) return onUp()',
    becomes: 'if (retiredMs !== null) return onUp()',
    breaks: 'what waits for a renewed connection waits for ever',
  },
  {
    ...reconnecting,
    line: '    retiring = false\n    retiredMs = null\n    onDown',
    becomes: '    retiredMs = null\n    onDown',
    breaks: 'a connection that is lost while it is to be renewed is never up again',
  },
  {
    ...operation,
    line: 'ledger.acked(run, measured ? run : 0)',
    becomes: 'ledger.acked(run, run)',
    breaks: 'operations of the warm-up are measured',
  },
  {
    ...requestRetries,
    line: 'else if (!one.repeatable) lose',
    becomes: 'else if (one.repeatable) lose',
    breaks: 'what must not be repeated is repeated',
  },
  {
    ...operation,
    line: 'plan.cluster ? operations[kind].command.slotOf(n) : 0',
    becomes: '0',
    breaks: 'every operation goes to the owner of slot 0',
  },
  {
    ...ending,
    line: 'if (!valid) return ExitCode.invalid',
    becomes: '',
    breaks: 'a run that is not valid ends with 0',
  },
  {
    ...ending,
    line: '!passed && value !== null',
    becomes: 'passed && value !== null',
    breaks: 'one threshold that passed hides one that failed',
  },
  {
    ...limits,
    line: "'>=': (value, limit) => value >= limit",
    becomes: "'>=': (value, limit) => value > limit",
    breaks: '>= is read as >',
  },
  {
    ...verifying,
    line: 'if (matches(n, bytes, from, to)) checked.present++',
    becomes: 'if (bytes) checked.present++',
    breaks: 'a corrupt value is verified as present',
  },
  {
    ...scripts,
    file: 'lua/store-items.lua',
    line: "redis.call('SETEX', item, ttl, value)",
    becomes: "redis.call('SET', item, value)",
    breaks: 'items of a script live for ever',
  },
  {
    ...scripts,
    file: 'lua/release-lease.lua',
    line: '-#ARGV[1]) ~= ARGV[1] then return 0 end',
    becomes: "-#ARGV[1]) == '' then return 0 end",
    breaks: 'a lease of another is given back',
  },
  {
    ...scripts,
    file: 'lib/servers/leases.js',
    line: 'await giveBack()\n        // The plan',
    becomes: '// The plan',
    breaks: 'a writer that ends keeps its leases',
  },
  {
    ...secrets,
    line: '...valuesOf(files).flatMap(firstLineOf),',
    becomes: '',
    breaks: 'the password of a file is printed',
  },
  {
    ...ticks,
    line: 'const wait = pacer.dueMs(next) - elapsed()',
    becomes: 'const wait = pacer.spacingMs',
    breaks: 'ticks drift by what each timer is late',
  },
  {
    ...ticks,
    line: 'timers.setTimeout(wake, Math.max(0, wait - early))',
    becomes: 'timers.setTimeout(wake, Math.max(0, wait))',
    breaks: 'a tick is late by its timer, which was to be spun away',
  },
  {
    ...notes,
    line: 'if (tag !==',
    becomes: 'if (!tag.endsWith(version) && tag !==',
    breaks: 'a tag without its v is released',
  },
  {
    ...notes,
    line: 'one.startsWith(',
    becomes: 'one || one.startsWith(',
    breaks: 'a release has the notes of another',
  },
  {
    ...notes,
    line: '\\(\\d{4}-\\d\\d-\\d\\d\\)$/',
    becomes: '\\(.*\\)$/',
    breaks: 'a version that is not dated is released',
  },
  {
    ...notes,
    line: 'return notes ?',
    becomes: 'return true ?',
    breaks: 'a release has no notes',
  },
  {
    ...notes,
    line: 'process.exitCode = ExitCode.options',
    becomes: '',
    breaks: 'the release goes on where the tag is refused',
  },
  {
    ...release,
    file: 'lib/base/version.js',
    line: ').version',
    becomes: ').name',
    breaks: 'the version that is printed is not that of the package',
  },
  {
    ...packed,
    line: '"millrace": "lib/cli/millrace.js"',
    becomes: '"millrace": "producer.js"',
    breaks: 'the command of the package is another program',
  },
  {
    ...packed,
    line: '    "lua",\n',
    becomes: '',
    breaks: 'the package has no Lua scripts',
  },
  {
    ...packed,
    line: '    "settings.js",\n',
    becomes: '',
    breaks: 'the package has no settings',
  },
  {
    ...packed,
    line: '    "docs/schemas/*.json",\n',
    becomes: '',
    breaks: 'the package has no schemas',
  },
  {
    ...packed,
    line: '"charts/*.js"',
    becomes: '"charts"',
    breaks: 'pictures of the documentation are packed',
  },
  {
    ...packed,
    line: '"docs/**/*.md"',
    becomes: '"docs"',
    breaks: 'data of the documentation are packed',
  },
  {
    ...packed,
    line: '"default": "./lib/index.js"',
    becomes: '"default": "./index.js"',
    breaks: 'the package cannot be imported',
  },
  {
    ...packed,
    line: '"node": ">=20.19.0"',
    becomes: '"node": ">=18"',
    breaks: 'npm installs it for a Node that cannot run it',
  },
  {
    ...workflow,
    line: '      - run: npm test\n',
    becomes: '',
    breaks: 'a release is not tested',
  },
  {
    ...workflow,
    line: 'npm publish ./millrace-*.tgz',
    becomes: 'npm publish',
    breaks: 'what is published is not the file that was tested',
  },
  {
    ...workflow,
    line: '      id-token: write #',
    becomes: '      contents: write #',
    breaks: 'the job that publishes has another right',
  },
  {
    ...release,
    file: 'lib/cli/millrace.js',
    line: '#!/usr/bin/env node',
    becomes: '',
    breaks: 'the command of the package is not started by node',
  },
  {
    ...front,
    line: '? millraceVersion() : usage',
    becomes: '? usage : millraceVersion()',
    breaks: '--version prints the help',
  },
  {
    ...completion,
    line: "(await offered(words)).join('\\n')",
    becomes: "(await offered(words)).join(' ')",
    breaks: 'the completion offers one word',
  },
  {
    ...completion,
    line: 'if (line.length < 3)',
    becomes: 'if (line.length < 2)',
    breaks: 'no command is completed',
  },
  {
    ...completion,
    line: 'settings : choices && [...choices]',
    becomes: 'settings : undefined',
    breaks: 'no value is completed',
  },
  {
    ...completion,
    line: 'process.env.SHELL = shell\n',
    becomes: "process.env.SHELL = 'bash'\n",
    breaks: 'zsh gets the completion of bash',
  },
  {
    ...completion,
    line: '|| !shells.includes(shell)',
    becomes: '',
    breaks: 'the completion of an unknown shell is printed',
  },
]
