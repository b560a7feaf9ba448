// A loader hook: an import of one module gives another, which a test made of it.

/** @import { ResolveHook } from 'node:module' */

let from = ''
let to = ''

/** @param {{ from: string, to: string }} modules their addresses */
export const initialize = (modules) => {
  from = modules.from
  to = modules.to
}

/** @type {ResolveHook} */
export const resolve = async (specifier, context, next) => {
  const found = await next(specifier, context)
  return found.url === from ? { ...found, url: to } : found
}
