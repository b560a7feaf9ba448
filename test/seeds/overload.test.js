import { seedTests } from '../helpers/seed-tests.js'

seedTests('overload', 101, 400)
