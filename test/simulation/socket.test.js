import { seedTests } from '../helpers/seed-tests.js'

seedTests('socket', 1, 40)
