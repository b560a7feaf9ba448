#!/usr/bin/env node
// Reads the live items the way an application would, and reports how fast, how fresh, and whether right: millrace read.
import { start } from './lib/cli/start.js'

await start('read', { as: 'node consumer.js' })
