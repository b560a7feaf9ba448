#!/usr/bin/env node
// millrace experiment
import { start } from '../lib/cli/start.js'

await start('experiment', { as: 'node scripts/experiment.js' })
