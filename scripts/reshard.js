#!/usr/bin/env node
// millrace reshard
import { start } from '../lib/cli/start.js'

await start('reshard', { as: 'node scripts/reshard.js' })
