import type { SqlStatement } from './sql-database.ts';

/**
 * Collects the values of a statement that is put together from parts. Every caller's datum goes through
 * `bind`, so no part of a statement's text ever comes from outside.
 */
export class SqlParameters {
  private readonly values: unknown[] = [];

  /** Placeholder (`$1`, `$2`, …) of a value. */
  bind(value: unknown): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }

  statement(text: string): SqlStatement {
    return { text, values: this.values };
  }
}

/** A time as a bound value: text, which every driver sends alike. */
export function sqlTime(time: Date | number): string;
export function sqlTime(time: Date | number | null): string | null;
export function sqlTime(time: Date | number | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}
