import { seedTests } from '../helpers/seed-tests.js'

seedTests('socket', 101, 500)
