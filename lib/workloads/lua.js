// The scripts in lua/, by name.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

/** @param {string} name of a file in lua/, without its ending */
export const scriptBody = (name) => readFileSync(new URL(`../../lua/${name}.lua`, import.meta.url), 'utf8')

/** @param {string} name */
export const scriptSha = (name) => createHash('sha1').update(scriptBody(name)).digest('hex')
