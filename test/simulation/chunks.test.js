import { seedTests } from '../helpers/seed-tests.js'

seedTests('chunks', 1, 70)
