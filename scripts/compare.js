#!/usr/bin/env node
// millrace diff
import { start } from '../lib/cli/start.js'

await start('diff', { as: 'node scripts/compare.js' })
