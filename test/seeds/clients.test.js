import { seedTests } from '../helpers/seed-tests.js'

seedTests('clients', 31, 160)
