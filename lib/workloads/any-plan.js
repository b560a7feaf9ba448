/** A plan for what does not depend on one: the names of keys, whether a declaration is whole. */
export const anyPlan = Object.freeze({
  prefix: '',
  quantity: 1,
  ttlS: 1,
  once: false,
  valueBytes: 16,
  /** @type {'zero'} */
  payload: 'zero',
  seed: 0,
  stamp: false,
  sets: ['', ''],
  extraSets: [''],
  /** @type {'plain'} */
  placement: 'plain',
  taggedItems: false,
  buckets: 1,
})
