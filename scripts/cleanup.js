#!/usr/bin/env node
// millrace cleanup
import { start } from '../lib/cli/start.js'

await start('cleanup', { as: 'node scripts/cleanup.js' })
