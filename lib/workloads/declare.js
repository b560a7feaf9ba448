// The words that a workload's strategy is declared with. A declaration is frozen data: arguments are constants,
// variables, key families, scripts, or lists of these. Closures are left only inside variables, so everything else
// that a module must know of a strategy is read off its declaration.
import { exactly } from '../base/typed.js'

/**
 * @import { SettingKey, Settings } from '../../settings.js'
 * @import { Hole, HoleName, Part } from '../wire/encode.js'
 * @import { FlowName } from '../loads/names.js'
 * @import { Plan } from '../loads/plan.js'
 * @import { Choice } from './needs.js'
 * @import { FieldsBy } from './fields.js'
 * @import { Progress, Question } from './reply-meanings.js'
 *
 * @typedef {'item' | 'tick' | 'command' | 'fetch' | 'reply' | 'worker'} Scope when a variable gets its value: for the item an
 *   operation is about, at a tick, when a command's items are known, when a fetch begins, by a reply before it, when a
 *   worker plays
 * @typedef {object} Variable
 * @property {string} variable its name, as patterns of keys write it
 * @property {Scope} scope
 * @property {(n: number) => string | number | Part[]} [forItem] of item n
 * @property {Hole} [hole] at a tick: a place of fixed width
 * @property {[from: number, to: number]} [range] of the numbers that `forItem` can make, `to` not among them
 * @property {boolean} [drawn] `forItem` draws a number from the range; else the number i of it is `forItem(i)`
 * @property {number} [width] of item n, in place: so many bytes that `put` writes
 * @property {(n: number, out: Buffer, at: number, width: number) => void} [put]
 * @property {(n: number) => number} [widthOf] of item n, where it is each item's own; `put` is given it
 * @property {number} [most] of widthOf
 * @property {number} [shift] of a minute: how many before the one under way
 * @property {(n: number) => string[]} [list] of a multi-step operation: several arguments, as many(it)
 * @property {(progress: Progress) => string} [from] of a multi-step operation: what replies so far make of it
 * @property {number} [plus] of a count
 * @property {unknown} [about] of a user's own model: what `of` goes by, where two of the same text differ
 * @property {number} [times]
 *
 * @typedef {object} Family keys of one pattern and type
 * @property {'key' | 'label'} family a label is no key: text of the same kind in an argument, such as a field's name
 * @property {string} pattern
 * @property {string} type as TYPE names it; '' of a label
 * @property {(string | Variable)[]} parts without the prefix
 * @property {number | null} lifetimeS after its last write; null: as long as its owner keeps it
 * @property {number} keys how many there are at most, where the pattern does not say
 * @property {number} bytes what each key takes
 * @property {number} holds how many items all of its keys hold at most
 * @property {number} bytesAnItem what each of those takes
 * @property {{ head: string, rest: RegExp }} [shape] how its keys are recognised where no number can be read off them
 * @property {string} [owner] the workload whose keys they are, where that is not its own
 *
 * @typedef {{ script: string, calls: readonly string[], counts: string | null, inline: boolean, called: string | null }} Script a file of
 *   lua/; `calls`: the commands that it runs; `counts`: the one of them that it runs once an item; `inline`: its text
 *   is sent, for EVAL; `called`: the function of a library, for FCALL
 * @typedef {{ many: Argument[] }} Many repeated for each item that the command carries
 * @typedef {{ all: Family }} All every key of a family
 * @typedef {string | number | Variable | Family | Script} Atom
 * @typedef {Atom | Atom[]} Argument a list is one argument, joined
 * @typedef {Argument | Many | All} Slot
 *
 * @typedef {'safe' | 'never' | 'partial'} Repeat what may be done with a command whose reply was lost
 * @typedef {object} CommandOptions
 * @property {Repeat} [repeat] else the strategy's
 * @property {number} [max] of gather: most items in one command, 0 = no limit
 * @property {Readonly<Partial<Record<'bulk' | 'nil' | 'zero' | 'one', string>>>} [counts] replies by class, and what is
 *   counted by them
 * @property {string} [number] of an own model: what the number in its replies is called
 * @property {boolean} [paced] of every: as often as its time has passed, spread over the portions of a tick
 * @property {boolean} [purges] takes out what has died
 * @property {ReplyMeaning} [reply] of ask: what its reply means ('done')
 * @property {'cursor' | 'executed'} [until] of ask: from the first command again while the cursor is not 0, or a
 *   transaction was not executed
 * @property {boolean} [once] of ask: it runs once in an operation, and in nothing else that clients do meanwhile
 * @property {boolean} [joined] of ask: the next command is sent without waiting for its reply
 * @property {{ group: number, isTransaction: boolean, pauseMs: number }} [sequence] of each, of several commands of an operation:
 *   those of a group are sent together, the next after their replies and the pause
 * @property {((n: number) => number) | null} [compared] of each: a number of the key whose whole value it writes or reads, where answers
 *   are compared with what was written; null: it does neither; none: that is n
 *
 * @typedef {'done' | 'cursor-keys' | 'cursor-rows' | 'documents' | 'members' | 'keys' | 'executed-keys' | 'search-keys' | 'indexed' | 'text' | 'fields' | 'executed'} ReplyMeaning see reply-meanings.js
 *
 * @typedef {CommandOptions & { kind: 'each' | 'gather' | 'every' | 'ask', name: string, args: readonly Slot[], everyMs: number }} Command
 *
 * @typedef {'members' | 'scored' | 'values' | 'scored-values' | 'pairs' | 'entries' | 'script'} Shape how a reply
 *   becomes ids, scores and values: see shapes.js
 * @typedef {object} Ask a command of a fetch, sent for every key of its family
 * @property {'ids' | 'number' | 'newest'} ask
 * @property {string} name of the command
 * @property {readonly Slot[]} args
 * @property {Shape} [shape]
 * @property {string} [number] what its number is called; numbers of one name are added up
 * @property {number} [keys] only so many of the family's keys
 *
 * @typedef {object} ValueCommand reads the value of an id: name, id, and what follows it
 * @property {string} name
 * @property {string[]} after
 * @property {boolean} many the command takes many ids at once as well (GET and MGET)
 *
 * @typedef {object} Fetch
 * @property {Ask[]} asks all of them may be sent at once
 * @property {ValueCommand | null} value null: the values come with the ids
 * @property {ValueCommand} [again] asks once more for a value that came with its id, where they are kept apart
 * @property {boolean} dated ids come with the time they were written, when it is asked for
 * @property {boolean} unique an id may come twice
 *
 * @typedef {object} Check how acknowledged items are looked for
 * @property {'id' | 'values' | 'members' | 'present' | 'listed'} check id: by the fetch's value command; listed: the whole
 *   list is read; else by a command with an element for each item: values, whether its id is there (members), or all there is
 *   of the item (present)
 * @property {string} name
 * @property {readonly Slot[]} args
 * @property {number} [most] entries that a list is cut to
 * @property {boolean} [dated] its answers are scores: the times of the writes
 *
 * @typedef {{ structure: string, nature: string, name: string, args: readonly Slot[] }} Counter a structure that
 *   counts unique items
 *
 * @typedef {'popped' | 'popped-many' | 'values' | 'entries' | 'ids' | 'entries-by-key' | 'claimed'} JobsShape where the jobs are in a reply: see
 *   queue/replies.js
 * @typedef {object} Work a command of a worker
 * @property {string} name
 * @property {readonly Slot[]} args variables of the worker among them; many: for each job of the command
 * @property {JobsShape | null} jobs null: its reply holds none
 * @property {'take' | 'one'} repeat take: once for each job that may be taken, in one write
 * @property {RegExp | null} mayFail a refusal that says: it was done before
 *
 * @typedef {object} Workers how a queue's jobs are taken, confirmed and counted
 * @property {'at-most-once' | 'at-least-once'} promise
 * @property {readonly Need[]} needs commands of the server
 * @property {readonly Work[]} open before the first job is taken
 * @property {Work | null} take returns at once; null: only `wait` takes
 * @property {Work | null} wait blocks until there is a job, for a while; null: the worker asks again each `pollMs`
 * @property {number} pollMs
 * @property {Work | null} own jobs that this worker was given and has not confirmed: after a lost connection
 * @property {readonly Work[]} confirm in one transaction; of a filter it hands the jobs over to the outputs first
 * @property {Work | null} alive each second
 * @property {Work | null} reclaim brings back, or takes over, the jobs of a worker that is silent
 * @property {readonly Work[]} leave by a worker that ends in order
 * @property {readonly (Work & { sign: 1 | -1 })[]} waiting numbers whose sum is how many jobs wait
 * @property {readonly Contents[]} contents where jobs may be
 *
 * @typedef {object} Contents
 * @property {'queued' | 'taken'} state
 * @property {'filter' | 'output'} stage whose queue it is
 * @property {Work | null} each members, each a `worker` of the command
 * @property {Work} read a page: from place `from`, `page` of them
 * @property {'place' | 'id'} by how the next page begins
 * @property {boolean} bodies false: ids of jobs that another of the contents has
 *
 * @typedef {object} Mix
 * @property {{ rate?: number, connections?: number, pipeline?: number }} run
 * @property {readonly { name: string, share: number, pattern: string, reads: boolean }[]} commands
 *
 * @typedef {Record<string, Family | readonly Family[]>} Keys
 * @typedef {{ name: string, play: string, beyond?: boolean }} Pass an operation for each number; beyond: for as many numbers
 *   after the last
 * @typedef {object} PassResult
 * @property {string} name
 * @property {number} operations that were acknowledged
 * @property {number} duration_s
 * @property {number} rate operations a second
 * @property {number | null} server_cpu_us of all masters, an operation
 * @property {number | null} memory_bytes by which the masters' data grew; null: too little to tell, or they do not say
 * @property {Record<string, number>} counts replies by what they mean
 *
 * @typedef {object} Sum of all counters of a run
 * @property {number} before
 * @property {number} after
 * @property {number} acked increments that were acknowledged
 * @property {number} uncertain increments whose reply was lost
 * @property {number} different counters that did not grow as declared, where every increment was acknowledged
 *
 * @typedef {object} Amounts what the counters of a run hold
 * @property {string} play the operation that reads the counters of numbers
 * @property {number} counters the numbers 1 to so many have all of them
 * @property {(counter: number) => number} expected how much it grows by the run
 *
 * @typedef {'right' | 'wrong' | 'partial'} AnswerVerdict on an answer; partial: what is there is right, and some is missing
 * @typedef {{ n: number, version: number, sentMs: number, ackedMs: number }} Change of what operations are about
 *
 * @typedef {object} AnswerVerifier knows what was written, and so which answers are right
 * @property {number} queries operations are about the numbers 1 to so many
 * @property {(n: number, ids: readonly number[], fromMs: number, toMs: number) => AnswerVerdict} verify
 * @property {(n: number, nowMs: number) => Change} begun item n is about to be written
 * @property {(change: Change, nowMs: number) => void} written
 * @property {(beforeMs: number) => void} forget changes that no operation under way may have missed
 *
 * @typedef {object} Answers operations whose every answer is checked
 * @property {() => AnswerVerifier} verifier a new one
 * @property {Question | null} question how a client filters by itself
 * @property {(n: number) => number} matches items that query n matches as they were loaded
 *
 * @typedef {object} Indexing what is built besides the data that is loaded
 * @property {'before' | 'after'} when it comes into being: with the data, or once all of it is there
 * @property {{ play: string, count: number } | null} create an operation for each of the numbers 1 to so many; null: loading does it
 * @property {string | null} ready the operation that says whether number n is whole ('ready'); null: it is
 * @property {string | null} drop the operation that removes number n, before and after a run
 * @property {number} indexes
 *
 * @typedef {object} Updates of items that many clients change at the same time, each of them a field of its own
 * @property {string} read the operation that reads an item's text
 * @property {(text: string) => number} shownIn how many updates the text of an item shows
 * @property {(client: number, n: number) => void} acked an update of a client was acknowledged
 * @property {boolean} mayLose clients may overwrite what others wrote
 *
 * @typedef {'one' | 'pipeline' | 'concurrent' | 'call' | 'transaction'} Delivery how a client sends bundles, each after the
 *   replies to the one before it: a command at a time; all commands of a bundle together; as calls at once that the
 *   driver groups; in one command; between MULTI and EXEC
 *
 * @typedef {{ command: string, since: string }} Need a command of the server, and the versions that have it
 * @typedef {{ name: string, help: string, env?: string, implies?: string }} Flag a published name of the strategy
 * @typedef {(settings: Settings, named: (key: SettingKey) => string) => string | false | undefined} Rule a sentence where
 *   settings contradict the strategy
 * @typedef {FieldsBy[keyof FieldsBy]} Fields what the strategies of one of the workloads read of a plan
 */

/**
 * @typedef {object} Play how its writers play it
 * @property {FlowName} flow
 * @property {readonly string[]} operations of a mix several
 * @property {readonly ('socket' | 'ioredis')[]} drivers that can play it for clients, the default first
 * @property {Delivery | null} delivery of bundles; null: operation by operation
 * @property {readonly string[]} fatal refusals that are outcomes: the operation is not retried
 * @property {string | null} beside the operation that other clients play meanwhile, where they are asked for
 * @property {boolean} clientWorks the client's own time is a part of what is asked for
 * @property {boolean} anyServer it needs no command but its own: it runs on a server that refuses INFO and the like
 * @property {boolean} caches what is not found is read from a source and written: keys may be evicted
 * @property {boolean} inFields what it stores are fields of hashes, of which INFO counts no hits and no expirations
 * @property {boolean} oneSlot a command's keys must be in one slot
 */

/**
 * @template T
 * @typedef {object} Filling what is written before clients begin
 * @property {string | null} play the operation that fills the key space
 * @property {readonly { play: string, count: number | null }[] | null} several each for the numbers 1 to `count`; null: of all items
 * @property {((t: T) => Indexing) | null} indexing
 */

/**
 * @template T, K
 * @typedef {object} Reading how consumers read it
 * @property {(t: T, k: K) => Fetch} fetch
 * @property {readonly string[]} modes how it can be read
 * @property {(k: K) => Family | null} ids what an id is made of; null: the value is the item
 * @property {(t: T, k: K) => Counter[]} counters
 */

/**
 * @template T, K
 * @typedef {object} Checking how acknowledged items are looked for by number
 * @property {(t: T, k: K) => Check[]} items
 * @property {(t: T) => string[]} unchecked what that does not look at, in words
 */

/**
 * @template T
 * @typedef {object} Passes over all numbers, one after the other
 * @property {readonly Pass[]} order
 * @property {{ play: string, count: (t: T) => number } | null} prepare an operation for each number up to a count, before the first
 */

/**
 * @template T
 * @typedef {object} MixOf operations whose order follows from their number; else they are drawn by --with ratio
 * @property {(t: T) => () => number} picks which operation is next
 * @property {boolean} compares whole values of strings are written, and read
 * @property {Mix | null} file what the file of a mix says of its commands, and of how they were sent
 */

/**
 * @template T, K
 * @typedef {object} Declared in the fields that its workload reads of a plan, and the keys that it has itself
 * @property {string} workload
 * @property {string} name
 * @property {string} title
 * @property {Choice | null} choice what it is chosen by; null: it is no candidate of `millrace choose` unless it is named
 * @property {readonly Flag[]} flags
 * @property {readonly string[]} options shared options that are about this kind of strategy, by their keys
 * @property {readonly Rule[]} rules
 * @property {Readonly<Record<string, readonly Need[]>> | null} variants by feature of the server: the first that it can do
 * @property {number | null} defaultItems null: as many as the flow has
 * @property {(t: T) => K} keys
 * @property {boolean} keepsKeys its keys have no lifetime: they stay until cleanup
 * @property {(t: T, k: K) => Record<string, Command[]>} operations
 * @property {Repeat} repeat of its commands, unless one says otherwise
 * @property {Play} play
 * @property {Filling<T> | null} fill
 * @property {Reading<T, K> | null} read
 * @property {Checking<T, K> | null} check
 * @property {((t: T, k: K) => Workers) | null} queue its items are jobs, each written once, and `items` of them an interval are a
 *   rate
 * @property {Passes<T> | null} passes null: numbers are drawn
 * @property {MixOf<T> | null} mix
 * @property {((t: T) => Amounts) | null} amounts
 * @property {((t: T) => Answers) | null} answers
 * @property {((t: T) => Updates) | null} updates of what was loaded: how many of them survive is read back after the run
 * @property {(counts: Record<string, number>, plan: Plan, passes: readonly PassResult[], sum: Sum | null) => string[]} reasons
 *   why a run of it is not valid, by its replies and what is stored
 * @property {{ digest: string, source: Record<string, string> } | null} model of a user's own: which it is, and the option
 *   that gave it
 */

/** @typedef {Declared<Fields, Keys>} Declaration of whatever workload */

/** @param {string} name @param {Scope} scope @param {Partial<Variable>} rest @returns {Variable} */
const variable = (name, scope, rest) => Object.freeze({ variable: name, scope, ...rest })

/** @param {HoleName} name @param {number} width */
const hole = (name, width) => Object.freeze({ hole: name, width })

/** The number that an operation is about: the flow chooses it. */
export const n = variable('n', 'item', { forItem: (i) => i })
/** The tick's time in epoch milliseconds. */
export const time = variable('time', 'tick', { hole: hole('score', 13) })
/** The oldest time that is alive; what is older has expired. */
export const oldest = variable('oldest', 'tick', { hole: hole('floor', 13) })
/** The tick's time, in front of a value. */
export const stamp = variable('stamp', 'tick', { hole: hole('stamp', 13) })
/** In a multi-step operation: the cursor of the last reply, '0' at first. */
export const cursor = variable('cursor', 'reply', { from: (progress) => progress.cursor })
/** In a multi-step operation: what the replies so far, and who plays it, make of it. @param {string} name @param {NonNullable<Variable['from']>} from */
export const replied = (name, from) => variable(name, 'reply', { from })
/** In a multi-step operation: the keys of the last reply, as many(found). */
export const found = variable('found', 'reply', {})
/** Epoch seconds / 60. */
export const minute = variable('minute', 'tick', { hole: hole('minute', 8) })
/** When the operation was due, in epoch microseconds by the servers. */
export const due = variable('due', 'tick', { hole: hole('due', 16) })

/** The worker's name. */
export const worker = variable('worker', 'worker', {})
/** How many jobs a worker takes at most. */
export const take = variable('take', 'worker', {})
/** How long a worker waits for a job, in seconds. */
export const waitS = variable('waitS', 'worker', {})
/** The same in milliseconds. */
export const waitMs = variable('waitMs', 'worker', {})
/** How long a worker is silent before others take over its jobs, in milliseconds. */
export const reclaimMs = variable('reclaimMs', 'worker', {})
/** What a job is confirmed by. */
export const handle = variable('handle', 'worker', {})
/** What a job is. */
export const jobText = variable('text', 'worker', {})
/** Where a page begins, and how many jobs it has. */
export const pageFrom = variable('from', 'worker', {})
export const pageTo = variable('to', 'worker', {})
export const pageSize = variable('page', 'worker', {})

/** A command of a worker. @param {string} name @param {Slot[]} args @param {Partial<Work>} [options] @returns {Work} */
export const work = (name, args, options = {}) =>
  Object.freeze({ jobs: null, repeat: 'one', mayFail: null, name, args, ...options })

/** How many items the command carries. */
export const count = variable('count', 'command', { plus: 0, times: 1 })
/** One more than that: the keys of a script that is given an index and every item. */
export const countAndOne = variable('count', 'command', { plus: 1, times: 1 })

/** A number from `range` that is drawn for the item. @param {string} name @param {(n: number) => number} forItem @param {[number, number]} range */
export const drawn = (name, forItem, range) => variable(name, 'item', { forItem, range, drawn: true })
/** A number made of the item's. @param {string} name @param {(n: number) => number} forItem @param {[number, number]} [range] */
export const number = (name, forItem, range) => variable(name, 'item', { forItem, ...(range && { range }) })
/** @param {string} name @param {number} parts */
export const modulo = (name, parts) => number(name, (i) => i % parts, [0, parts])
/** Several arguments of a multi-step operation, made of the item's number: many(listed(...)). @param {string} name @param {(n: number) => string[]} list */
export const listed = (name, list) => variable(name, 'item', { list })
/** A text or bytes made of the item's number. @param {string} name @param {(n: number) => string | Part[]} forItem */
export const made = (name, forItem) => variable(name, 'item', { forItem })

/**
 * Bytes of a fixed width, written in place.
 * @param {string} name
 * @param {number} width
 * @param {(n: number, out: Buffer, at: number, width: number) => void} put
 */
export const fixed = (name, width, put) =>
  variable(name, 'item', {
    width,
    put,
    forItem: (i) => {
      const bytes = Buffer.alloc(width)
      put(i, bytes, 0, width)
      return [bytes]
    },
  })

/**
 * Bytes of each item's own width, written in place.
 * @param {string} name
 * @param {{ widthOf: (n: number) => number, most: number, put: (n: number, out: Buffer, at: number, width: number) => void }} body
 */
export const sized = (name, { widthOf, most, put }) =>
  variable(name, 'item', {
    widthOf,
    most,
    put,
    forItem: (i) => {
      const bytes = Buffer.alloc(widthOf(i))
      put(i, bytes, 0, bytes.length)
      return [bytes]
    },
  })

const standard = { n, minute }

/**
 * 'item:{n}' as parts; '{{' and '}}' are the braces of a cluster's hash tag.
 * @param {string} pattern
 * @param {Record<string, Variable>} own variables of this pattern
 */
export const partsOf = (pattern, own) => {
  /** @type {Record<string, Variable>} */
  const known = { ...standard, ...own }
  /** @type {(string | Variable)[]} */
  const parts = []
  for (const [token, , name] of pattern.matchAll(/(\{\{|\}\}|\{(\w+)\}|[^{}]+|[{}])/g)) {
    if (name && !known[name])
      throw new TypeError(`${pattern}: unknown {${name}}; a hash tag is written {{${name}}}`)
    if (token === '{' || token === '}')
      throw new TypeError(`${pattern}: a lone ${token}; write ${token}${token} for a brace`)
    const part = name ? known[name] : token === '{{' ? '{' : token === '}}' ? '}' : token
    const last = parts.at(-1)
    if (typeof part === 'string' && typeof last === 'string') parts[parts.length - 1] = last + part
    else parts.push(part)
  }
  return parts
}

/**
 * @typedef {object} FamilyOptions
 * @property {Record<string, Variable>} [of] variables of the pattern
 * @property {number | null} [lifetimeS]
 * @property {number} [keys]
 * @property {number} [bytes]
 * @property {number} [holds]
 * @property {number} [bytesAnItem]
 * @property {Family['shape']} [shape]
 * @property {string} [owner]
 *
 * @param {string} pattern
 * @param {string} type
 * @param {FamilyOptions} [options]
 * @returns {Family}
 */
export const family = (pattern, type, options = {}) => {
  const { of = {}, ...rest } = options
  return familyOf(pattern, type, partsOf(pattern, of), rest)
}

/**
 * The same of a pattern that has been read already.
 * @param {string} pattern
 * @param {string} type
 * @param {(string | Variable)[]} parts
 * @param {Omit<FamilyOptions, 'of'>} [options]
 * @returns {Family}
 */
export const familyOf = (pattern, type, parts, options = {}) => {
  const { lifetimeS = null, keys = 1, bytes = 0, holds = 0, bytesAnItem = 0, shape, owner } = options
  return Object.freeze({
    family: 'key',
    pattern,
    type,
    parts,
    lifetimeS,
    keys,
    bytes,
    holds,
    bytesAnItem,
    ...(shape && { shape }),
    ...(owner !== undefined && { owner }),
  })
}

/** Text of a pattern that is no key: the name of a field. @param {string} pattern @returns {Family} */
export const label = (pattern) => Object.freeze({ ...family(pattern, ''), family: 'label' })

/** The same keys, so many minutes before. @param {Family} of @param {number} [minutes] @returns {Family} */
export const earlier = (of, minutes = 1) =>
  Object.freeze({
    ...of,
    parts: of.parts.map((part) =>
      typeof part === 'object' && part.variable === 'minute' ? { ...part, shift: minutes } : part,
    ),
  })

/** Arguments repeated for each item of the command. @param {...Argument} args @returns {Many} */
export const many = (...args) => Object.freeze({ many: args })

/** Every key of the family, an argument each. @param {Family} of @returns {All} */
export const all = (of) => Object.freeze({ all: of })

/**
 * A script of lua/ by its name.
 * @param {string} name
 * @param {{ calls?: string[], counts?: string | null, inline?: boolean, called?: string | null }} [options]
 * @returns {Script}
 */
export const script = (name, { calls = [], counts = null, inline = false, called = null } = {}) =>
  Object.freeze({ script: name, calls, counts, inline, called })

/** A command an item. @param {string} name @param {Slot[]} args @param {CommandOptions} [options] @returns {Command} */
export const each = (name, args, options) =>
  Object.freeze({ kind: 'each', name, args, everyMs: 0, ...options })

/**
 * Many items in one command, for each key, cut at `max` items.
 * @param {string} name
 * @param {Slot[]} args
 * @param {CommandOptions} [options]
 * @returns {Command}
 */
export const gather = (name, args, options) =>
  Object.freeze({ kind: 'gather', name, args, everyMs: 0, ...options })

/**
 * A command without items for every key of its family: at every tick, or by one writer a process, not before
 * `everyMs` have passed. `many` in it is the first item of that key from where the tick begins.
 * @param {number} everyMs
 * @param {string} name
 * @param {Slot[]} args
 * @param {CommandOptions} [options]
 * @returns {Command}
 */
export const every = (everyMs, name, args, options) =>
  Object.freeze({ kind: 'every', name, args, everyMs, ...options })

/**
 * A command of a multi-step operation: the one after it is sent when its reply is there.
 * @param {string} name
 * @param {Slot[]} args
 * @param {CommandOptions} [options]
 * @returns {Command}
 */
export const ask = (name, args, options) => Object.freeze({ kind: 'ask', name, args, everyMs: 0, ...options })

/** A command whose reply holds ids. @param {string} name @param {Slot[]} args @param {Shape} shape @param {{ keys?: number }} [options] @returns {Ask} */
export const ids = (name, args, shape, options) =>
  Object.freeze({ ask: 'ids', name, args, shape, ...options })

/** A command whose reply is a number. @param {string} number @param {string} name @param {Slot[]} args @param {{ keys?: number }} [options] @returns {Ask} */
export const sum = (number, name, args, options) =>
  Object.freeze({ ask: 'number', number, name, args, ...options })

/** The newest score of a set, where ids come without theirs. @param {string} name @param {Slot[]} args @returns {Ask} */
export const newest = (name, args) => Object.freeze({ ask: 'newest', name, args })

/** Acknowledged items are read by their ids. @type {Check} */
export const byId = Object.freeze({ check: 'id', name: '', args: [] })

/**
 * Acknowledged items are asked for by a gathered command.
 * @param {'values' | 'members' | 'present'} what
 * @param {string} name
 * @param {Slot[]} args
 * @returns {Check}
 */
export const byCommand = (what, name, args) => Object.freeze({ check: what, name, args })

/**
 * Acknowledged items are asked for by their scores, which are the times of their writes.
 * @param {'members' | 'present'} what
 * @param {Slot[]} args
 * @returns {Check}
 */
export const byScore = (what, args) => Object.freeze({ check: what, name: 'ZMSCORE', args, dated: true })

/** Ids are looked for in a list, where it is shorter than it may be. @param {Family} list @param {number} most @returns {Check} */
export const inList = (list, most) => Object.freeze({ check: 'listed', name: 'LRANGE', args: [list], most })

/** @type {ValueCommand} */
export const get = Object.freeze({ name: 'GET', after: [], many: true })

const needed = exactly(['workload', 'name', 'title', 'keys', 'operations', 'play', 'repeat'])

/**
 * What a strategy has for its commands at a rate only: its passes begin with nothing, go as fast as the replies come, and
 * end by themselves.
 * @param {SettingKey[]} keys
 */
export const atRate = (...keys) =>
  keys.map(
    (key) => (/** @type {Settings} */ s, /** @type {(key: SettingKey) => string} */ named) =>
      ['command line', 'file'].includes(s.given[key]) &&
      typeof s.rate !== 'number' &&
      s.rates === undefined &&
      `${named(key)}: the passes of ${s.strategy} end by themselves; it goes with --rate, at which their commands are played`,
  )

/**
 * @template T, K
 * @typedef {object} Parts of a declaration as they are written: what a part leaves out has a default
 * @property {Pick<Play, 'flow' | 'operations'> & Partial<Play>} play
 * @property {Partial<Filling<T>> | null} [fill]
 * @property {Pick<Reading<T, K>, 'fetch'> & Partial<Reading<T, K>> | null} [read]
 * @property {Pick<Checking<T, K>, 'items'> & Partial<Checking<T, K>> | null} [check]
 * @property {Pick<Passes<T>, 'order'> & Partial<Passes<T>> | null} [passes]
 */

/**
 * @template T, K
 * @typedef {Pick<Declared<T, K>, 'name' | 'title' | 'keys' | 'operations' | 'repeat'>
 *   & Partial<Omit<Declared<T, K>, keyof Parts<T, K>>> & Parts<T, K>} Wording
 */

/**
 * @template {keyof FieldsBy} W
 * @template {Keys} K
 * @typedef {{ workload: W } & Wording<FieldsBy[W], K>} Words of a strategy of workload W
 */

/**
 * @template {keyof FieldsBy} W
 * @template {Keys} K
 * @param {Words<W, K>} declaration
 * @returns {Readonly<Declaration>}
 */
export const strategy = (declaration) => {
  for (const field of needed)
    if (declaration[field] === undefined)
      throw new TypeError(`strategy ${declaration.name ?? '(without a name)'}: ${field} is missing`)
  const { play, fill, read, check, passes } = declaration
  const whole = {
    choice: null,
    flags: [],
    options: [],
    rules: [],
    variants: null,
    defaultItems: null,
    keepsKeys: false,
    queue: null,
    mix: null,
    amounts: null,
    answers: null,
    updates: null,
    reasons: () => [],
    model: null,
    ...declaration,
    play: {
      drivers: exactly(['socket']),
      delivery: null,
      fatal: [],
      beside: null,
      clientWorks: false,
      anyServer: false,
      caches: false,
      inFields: false,
      oneSlot: false,
      ...play,
    },
    fill: fill ? { play: null, several: null, indexing: null, ...fill } : null,
    read: read ? { modes: ['manual'], ids: () => null, counters: () => [], ...read } : null,
    check: check ? { unchecked: () => [], ...check } : null,
    passes: passes ? { prepare: null, ...passes } : null,
  }
  // Its functions are only called with the fields of its own workload, and with its own keys.
  return Object.freeze(/** @type {Declaration} */ (/** @type {unknown} */ (whole)))
}
