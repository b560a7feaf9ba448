import { seedTests } from '../helpers/seed-tests.js'

seedTests('bundles', 71, 170)
