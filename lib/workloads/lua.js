// The scripts in lua/, by name.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

/** @param {string} name of a file in lua/, without its ending */
export const scriptBody = (name) => readFileSync(new URL(`../../lua/${name}.lua`, import.meta.url), 'utf8')

/** The same without its comments, to be sent with each call. @param {string} name */
export const inlineScript = (name) =>
  scriptBody(name)
    .replaceAll(/^--.*\n/gm, '')
    .trim()

/** @param {string} name */
export const scriptSha = (name) => createHash('sha1').update(scriptBody(name)).digest('hex')
