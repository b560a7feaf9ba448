import { seedTests } from '../helpers/seed-tests.js'

seedTests('clients', 101, 250)
