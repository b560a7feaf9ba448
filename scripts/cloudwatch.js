#!/usr/bin/env node
// millrace cloudwatch
import { start } from '../lib/cli/start.js'

await start('cloudwatch', { as: 'node scripts/cloudwatch.js' })
