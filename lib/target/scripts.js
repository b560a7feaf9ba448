// The scripts in lua/, by name.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

/** Those that store items. */
export const storeScripts = ['store-item', 'store-items', 'return-zero', 'store-hash', 'store-fields']

/** What a consumer calls with --mode script. */
export const fetchScript = 'fetch-latest-items'

/** @param {string} name of a file in lua/, without its ending */
export const scriptBody = (name) => readFileSync(new URL(`../../lua/${name}.lua`, import.meta.url), 'utf8')

/** The same without its comments, to be sent with each call. @param {string} name */
export const inlineScript = (name) =>
  scriptBody(name)
    .replaceAll(/^--.*\n/gm, '')
    .trim()

/** @param {string} name */
export const scriptSha = (name) => createHash('sha1').update(scriptBody(name)).digest('hex')

/**
 * @param {import('ioredis').Redis} client
 * @param {string} name
 */
export const loadScript = (client, name) => client.call('SCRIPT', 'LOAD', scriptBody(name))
