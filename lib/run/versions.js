// Versions of all programs involved; every result has them.
import { millraceVersion } from '../base/version.js'

/** @param {{ versions: string[] }} target */
export const versionsOf = ({ versions }) => ({
  millrace: millraceVersion(),
  node: process.versions.node,
  servers: versions,
})
