#!/usr/bin/env node
// Writes items the way an application would, and reports what that cost: millrace write.
import { start } from './lib/cli/start.js'

await start('write', { as: 'node producer.js' })
