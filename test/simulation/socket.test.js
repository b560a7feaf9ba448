import { socketDriver } from '../../lib/drivers/socket.js'
import { seedTests } from '../helpers/seed-tests.js'

seedTests({ name: 'socket', open: socketDriver }, 1, 200)
