import { describe, expect, it } from 'vitest';
import { PalimpsestError } from '../core/errors.ts';
import {
  endsConnection,
  isContention,
  isUniqueViolation,
  SqlError,
  sqlState,
  toStoreError,
} from './sql-errors.ts';

const raised = (code: string, extra: Record<string, unknown> = {}) =>
  Object.assign(new Error(`raised ${code}`), { code, severity: 'ERROR', ...extra });

describe('toStoreError', () => {
  it.each([
    ['08006', 'store_unavailable'],
    ['08P01', 'store_unavailable'],
    ['53100', 'store_unavailable'],
    ['53300', 'store_unavailable'],
    ['57P01', 'store_unavailable'],
    ['57P03', 'store_unavailable'],
    ['57014', 'store_unavailable'],
    ['58030', 'store_unavailable'],
    ['28P01', 'store_unavailable'],
    ['3D000', 'store_unavailable'],
    ['25006', 'store_unavailable'],
    ['25P03', 'store_unavailable'],
    ['40001', 'store_unavailable'],
    ['40P01', 'store_unavailable'],
    ['55P03', 'store_unavailable'],
    ['22021', 'invalid_input'],
    ['22P05', 'invalid_input'],
    ['22P02', 'invalid_input'],
    ['22003', 'invalid_input'],
    ['54001', 'invalid_input'],
    ['42501', 'forbidden'],
  ])('%s is %s', (code, expected) => {
    const cause = raised(code);
    const error = toStoreError(cause);
    expect(PalimpsestError.isInstance(error)).toBe(true);
    expect(error).toMatchObject({ code: expected, cause: { code, message: `raised ${code}` } });
    expect(sqlState(error)).toBe(code);
  });

  it.each(['23505', '23503', '22012', '42P01', '42601', 'XX000'])('%s is left to the caller', (code) => {
    const error = toStoreError(raised(code));
    expect(error).toBeInstanceOf(SqlError);
    expect(error.code).toBe(code);
  });

  it('takes an error without a SQLSTATE for a failed connection', () => {
    const cause = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
    expect(toStoreError(cause)).toMatchObject({ code: 'store_unavailable', cause });
  });

  it('leaves what it has translated before, and errors of ours', () => {
    for (const error of [
      toStoreError(raised('42501')),
      toStoreError(raised('23505')),
      new PalimpsestError('conflict', 'c'),
    ]) {
      expect(toStoreError(error)).toBe(error);
    }
  });

  it.each([
    ['57P01', 1],
    ['57P03', 1],
    ['53300', 1],
    ['57014', 1],
    ['22P02', undefined],
    ['42501', undefined],
  ])('%s may pass when asked again after %s s', (code, retryAfterSeconds) => {
    expect(toStoreError(raised(code))).toMatchObject({ retryAfterSeconds });
  });

  it('gives every translated error a hint', () => {
    expect(toStoreError(raised('57014'))).toMatchObject({ details: [{ hint: expect.stringMatching(/./) }] });
  });
});

describe('isUniqueViolation', () => {
  const violation = toStoreError(raised('23505', { constraint: 'memories_live_content', table: 'memories' }));

  it('is true of any one, or of the one on a constraint', () => {
    expect(isUniqueViolation(violation)).toBe(true);
    expect(isUniqueViolation(violation, 'memories_live_content')).toBe(true);
    expect(isUniqueViolation(violation, 'memories_pkey')).toBe(false);
  });

  it('is false of everything else', () => {
    for (const other of [
      toStoreError(raised('23503')),
      raised('23505'),
      new Error('23505'),
      undefined,
      null,
      '23505',
    ]) {
      expect(isUniqueViolation(other)).toBe(false);
    }
  });
});

describe('isContention', () => {
  it('is true of serialization failures and deadlocks, raw or translated', () => {
    for (const code of ['40001', '40P01']) {
      expect(isContention(raised(code))).toBe(true);
      expect(isContention(toStoreError(raised(code)))).toBe(true);
    }
  });

  it('is false of a statement that would fail again, and of a lost connection', () => {
    for (const error of [raised('23505'), toStoreError(raised('55P03')), new Error('gone'), undefined]) {
      expect(isContention(error)).toBe(false);
    }
  });
});

describe('endsConnection', () => {
  it('is true when the server said so, or said nothing', () => {
    expect(endsConnection(raised('57P01', { severity: 'FATAL' }))).toBe(true);
    expect(endsConnection(raised('58030', { severity: 'PANIC' }))).toBe(true);
    expect(endsConnection(new Error('Connection terminated unexpectedly'))).toBe(true);
  });

  it('is false when a statement failed, or a value could not be read', () => {
    expect(endsConnection(raised('23505'))).toBe(false);
    expect(endsConnection(new PalimpsestError('internal', 'a time in an unknown form'))).toBe(false);
  });
});
