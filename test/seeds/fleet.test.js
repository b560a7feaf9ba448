import { seedTests } from '../helpers/seed-tests.js'

seedTests('fleet', 26, 250)
