// Loads scripts of lua/ into servers.
import { scriptBody } from '../workloads/lua.js'

/** Those that store items. */
export const storeScripts = ['store-item', 'store-items', 'return-zero', 'store-hash', 'store-fields']

/** What a consumer calls with --mode script. */
export const fetchScript = 'fetch-latest-items'

/**
 * @param {import('ioredis').Redis} client
 * @param {string} name
 */
export const loadScript = (client, name) => client.call('SCRIPT', 'LOAD', scriptBody(name))
