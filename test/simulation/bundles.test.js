import { seedTests } from '../helpers/seed-tests.js'

seedTests('bundles', 1, 20)
