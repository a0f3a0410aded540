import { expect, test } from 'vitest';
import { atMostEvery } from './service-log.ts';

test('says the first at once, then one in a while with how many there were', () => {
  let now = 0;
  const said: number[] = [];
  const say = atMostEvery(
    1000,
    () => now,
    (count) => said.push(count),
  );
  say();
  say(2);
  now = 999;
  say();
  expect(said).toEqual([1]);
  now = 1000;
  say();
  expect(said).toEqual([1, 4]);
  now = 5000;
  say(7);
  expect(said).toEqual([1, 4, 7]);
});
