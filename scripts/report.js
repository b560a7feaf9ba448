#!/usr/bin/env node
// millrace report
import { start } from '../lib/cli/start.js'

await start('report', { as: 'node scripts/report.js' })
