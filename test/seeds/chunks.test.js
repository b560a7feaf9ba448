import { seedTests } from '../helpers/seed-tests.js'

seedTests('chunks', 71, 170)
