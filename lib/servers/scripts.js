// Loads scripts and libraries of functions of lua/ into servers.
import { scriptBody } from '../workloads/lua.js'

/** @import { Redis } from 'ioredis' */

/** Those that store items. */
export const storeScripts = ['store-item', 'store-items', 'return-zero', 'store-hash', 'store-fields']

/** What a consumer calls with --mode script. */
export const fetchScript = 'fetch-latest-items'

/** The library of functions that a file is; null: it is a script. @param {string} name */
export const libraryIn = (name) => /^#!lua name=(\w+)/.exec(scriptBody(name))?.[1] ?? null

/** @param {Redis} client @param {string} name */
export const loadScript = (client, name) =>
  libraryIn(name) === null
    ? client.call('SCRIPT', 'LOAD', scriptBody(name))
    : client.call('FUNCTION', 'LOAD', 'REPLACE', scriptBody(name))
