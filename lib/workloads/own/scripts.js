// What a script of a user's model may call. Not a sandbox: it finds what was written by mistake, and says where it cannot
// look. Pure.
import { keyIndexes, moves, refusalOf } from './commands.js'

/**
 * @typedef {{ call: string, args: string[] }} Call the name, and the Lua text of each argument behind it
 */

const runners = ['EVAL', 'EVAL_RO', 'EVALSHA', 'EVALSHA_RO', 'FCALL', 'FCALL_RO']
const withText = ['EVAL', 'EVAL_RO']

/** @param {string} name */
const isRunner = (name) => runners.includes(name)

// What reaches other code or other names than those that are written.
const reflection = /\b(?:_G|_ENV|loadstring|load|dofile|require|getfenv|setfenv|rawget|debug)\b/
const harmless =
  /^\.(?:log|LOG_\w+|sha1hex|status_reply|error_reply|setresp|replicate_commands|set_repl|REPL_\w+)\b/

/** Without comments. @param {string} lua */
const withoutComments = (lua) => lua.replace(/--\[\[[\s\S]*?\]\]/g, ' ').replace(/--[^\n]*/g, ' ')

/** The arguments from behind an opening bracket to its closing one. @param {string} lua @param {number} from */
const argumentsFrom = (lua, from) => {
  const args = ['']
  let depth = 0
  let quote = ''
  for (let i = from; i < lua.length; i++) {
    const letter = lua[i]
    if (quote) {
      if (letter === quote) quote = ''
      else if (letter === '\\') args[args.length - 1] += lua[i++]
    } else if (letter === '"' || letter === "'") quote = letter
    else if ('([{'.includes(letter)) depth++
    else if (')]}'.includes(letter) && depth-- === 0) return args.map((arg) => arg.trim())
    else if (letter === ',' && depth === 0) {
      args.push('')
      continue
    }
    args[args.length - 1] += lua[i]
  }
  return null
}

/** The calls of a script; null: some cannot be read. @param {string} lua @returns {Call[] | null} */
const callsIn = (lua) => {
  const code = withoutComments(lua)
  if (reflection.test(code)) return null
  /** @type {Call[]} */
  const calls = []
  for (const { index, 0: word } of code.matchAll(/\b(?:redis|server)\b/g)) {
    const rest = code.slice(index + word.length)
    if (harmless.test(rest)) continue
    const [opening] = /^\s*\.\s*p?call\s*\(/.exec(rest) ?? []
    const args = opening === undefined ? null : argumentsFrom(rest, opening.length)
    const [, name] = /^(['"])([\w.]+)\1$/.exec(args?.[0] ?? '')?.slice(1) ?? []
    if (!args || !name) return null
    calls.push({ call: name.toUpperCase(), args: args.slice(1) })
  }
  return calls
}

/** From KEYS, all of them or one. @param {string} lua */
const isKey = (lua) => /^KEYS\s*\[/.test(lua) || /^(?:table\.)?unpack\s*\(\s*KEYS\b/.test(lua)

/** @param {Call} call @returns {{ refused: string } | { unread: string } | null} */
const faultOf = ({ call, args }) => {
  if (call === 'TIME') return null
  const refusal = refusalOf(call, args)
  if (refusal) return { refused: refusal }
  if (isRunner(call) || moves(call)) return { unread: `the keys of its ${call} cannot be read` }
  const keys = keyIndexes(call, args.length > 0 ? args : [''])
  if (keys.length === 0)
    return { refused: `${call} has no key, and a model's commands are about the keys that it declares` }
  const other = keys.map((at) => args[at] ?? '').find((arg) => !isKey(arg))
  return other === undefined
    ? null
    : { unread: `its ${call} has the key ${other || 'of an expression'}, which is not of KEYS` }
}

/**
 * What is wrong with a command that runs a script. `refused`: it may not be sent; `unread`: the user must say that it may;
 * null: nothing, or it runs none.
 * @param {string} name
 * @param {readonly string[]} args as texts
 * @returns {{ refused: string } | { unread: string } | null}
 */
export const scriptFault = (name, args) => {
  if (!isRunner(name)) return null
  if (!withText.includes(name)) return { unread: `what ${name} runs is on the server` }
  const calls = callsIn(args[0] ?? '')
  if (calls === null) return { unread: 'not all that its script calls can be read' }
  const faults = calls.map(faultOf).filter((fault) => fault !== null)
  return faults.find((fault) => 'refused' in fault) ?? faults[0] ?? null
}
