import fc from 'fast-check';

/** Few names, most of them easy to confuse, so that a pattern and a path often meet. */
const segment = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom('a', 'b', 'ab', 'a_b', 'a-b') },
  {
    weight: 1,
    arbitrary: fc.constantFrom('a+', 'A', 'größe', 'gro\u0308ße', '日本', '𝔸', 'x'.repeat(128), '~:@'),
  },
);

export const anyPath = fc
  .array(segment, { minLength: 1, maxLength: 7 })
  .map((segments) => segments.join('.'));

export const anyPattern = fc
  .array(
    fc.oneof(
      { weight: 3, arbitrary: segment },
      { weight: 2, arbitrary: fc.constant('*') },
      { weight: 1, arbitrary: fc.constantFrom('${x}', '${user_id}') },
    ),
    { minLength: 1, maxLength: 6 },
  )
  .map((segments) => segments.join('.'));
