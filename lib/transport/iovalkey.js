// iovalkey is a fork of ioredis: what is done with the one is done with the other.
import * as iovalkey from 'iovalkey'
import { libraryLike } from './ioredis.js'

/** @import { Classes } from './ioredis.js' */

export const iovalkeyLibrary = libraryLike(
  /** @type {Classes} */ (/** @type {unknown} */ (iovalkey)),
  // It groups them by their first argument, the script: iovalkey 0.4.0.
  { groupsScripts: false },
)
