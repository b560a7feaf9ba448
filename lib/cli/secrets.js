// The passwords that a program was given, also those typed in the wrong place: they must never be printed.
import { readFileSync } from 'node:fs'
import { namesOf, OPTIONS } from '../../settings.js'

/** @import { Option } from '../../settings.js' */

const passwords = OPTIONS.filter(({ secret, type }) => secret && type !== 'url' && type !== 'server')
const urls = OPTIONS.filter(({ type }) => type === 'url' || type === 'server')
const files = OPTIONS.filter(({ key }) => key === 'passwordFile')

/** Text before the @ of an address may be a password alone. @param {string} text */
const inUrl = (text) =>
  spelled(/^(?:[a-z]+:\/\/)?(?:[^:@]*:)?(.*)@/i.exec(text.replace(/\?iam=[^?]*$/, ''))?.[1] ?? '')

/** `user:password@host` in a word that may as well be a path. @param {string} word */
const inWord = (word) => spelled(/^(?:--?[\w-]+=)?(?:[a-z]+:\/\/)?[^\s/:@]*:([^/]+)@/i.exec(word)?.[1] ?? '')

/** @param {string} typed @returns {string[]} as typed, and as it is meant */
const spelled = (typed) => {
  try {
    return [typed, decodeURIComponent(typed)]
  } catch {
    return [typed]
  }
}

/** @param {string} path @returns {string[]} */
const firstLineOf = (path) => {
  try {
    return [readFileSync(path, 'utf8').split(/\r?\n/, 1)[0]]
  } catch {
    return [] // a bad address is reported where it is used
  }
}

/** @param {readonly Option[]} options @param {string[]} argv */
const typed = (options, argv) => {
  const flags = options.flatMap((option) => namesOf(option).flatMap((word) => [`--${word}`, `-${word}`]))
  return argv.flatMap((word, i) => {
    const equals = word.indexOf('=')
    if (flags.includes(word)) return argv[i + 1] ?? []
    return equals > 0 && flags.includes(word.slice(0, equals)) ? word.slice(equals + 1) : []
  })
}

/** `-a` is the password of redis-cli, and here the number of a writer. @param {string[]} argv */
const mistaken = (argv) =>
  argv.flatMap((word, i) => {
    const next = argv[i + 1] ?? ''
    if (/^(-a|--agent)$/.test(word) && !/^(\d{1,5}(-\d{1,5})?|all|auto|-.*)?$/.test(next)) return [next]
    const [, attached] = /^(?:-a|--agent=)([^-\d=].*)$/.exec(word) ?? []
    return attached === undefined || /^(ll|uto|all|auto)$/.test(attached) ? [] : [attached]
  })

/** @param {string[]} argv @param {NodeJS.ProcessEnv} env @returns {string[]} */
export const secretsIn = (argv, env) => {
  const valuesOf = (/** @type {readonly Option[]} */ options) => [
    ...options.flatMap(({ env: own, alsoEnv }) =>
      [own ?? [], alsoEnv].flat().flatMap((name) => env[name] ?? []),
    ),
    ...typed(options, argv),
  ]
  return [
    ...valuesOf(passwords),
    ...valuesOf(urls).flatMap(inUrl),
    ...argv.flatMap(inWord),
    ...valuesOf(files).flatMap(firstLineOf),
    ...mistaken(argv),
  ].filter((secret) => secret !== '')
}
