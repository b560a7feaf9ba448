import { seedTests } from '../helpers/seed-tests.js'

seedTests('fleet', 51, 400)
