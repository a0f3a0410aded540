import { expect, test } from 'vitest';
import { createLogger, errorForLog } from './logger.ts';

test('an error is logged by where it happened, never by the values it carries', () => {
  const cause = Object.assign(new Error('duplicate key'), {
    code: '23505',
    detail: 'Key (content)=(secret)',
    where: 'secret',
    parameters: ['secret'],
  });
  const logged = errorForLog(new Error('The store failed.', { cause }));
  expect(logged).toMatchObject({
    type: 'Error',
    message: 'The store failed.',
    stack: expect.stringContaining('logger.test.ts'),
    cause: { code: '23505', message: 'duplicate key' },
  });
  expect(JSON.stringify(logged)).not.toContain('secret');
});

test('something that is no error is told by its kind alone', () => {
  expect(JSON.stringify(errorForLog('secret'))).not.toContain('secret');
});

test('lines are JSON, and those below the level are left out', () => {
  const lines: string[] = [];
  const logger = createLogger('warn', { write: (line) => void lines.push(line) });
  logger.info('quiet');
  logger.warn({ err: new Error('loud') }, 'background work failed');
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { level: 40, msg: 'background work failed', err: { message: 'loud' } },
  ]);
});
