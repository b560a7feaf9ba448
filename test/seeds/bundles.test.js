import { seedTests } from '../helpers/seed-tests.js'

seedTests('bundles', 21, 110)
