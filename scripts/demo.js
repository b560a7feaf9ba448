#!/usr/bin/env node
// millrace demo
import { start } from '../lib/cli/start.js'

await start('demo', { as: 'node scripts/demo.js' })
