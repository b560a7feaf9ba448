// What ran: stands in every result.
import { readFileSync } from 'node:fs'

/** The version in package.json. */
export const millraceVersion = () =>
  JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version

/** @param {{ versions: string[] }} target */
export const versionsOf = ({ versions }) => ({
  millrace: millraceVersion(),
  node: process.versions.node,
  servers: versions,
})
