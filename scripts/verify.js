#!/usr/bin/env node
// millrace verify
import { start } from '../lib/cli/start.js'

await start('verify', { as: 'node scripts/verify.js' })
