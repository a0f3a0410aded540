import { describe, expect, test } from 'vitest';
import { exportedFunction, importPackage, requirePackages } from './optional-package.ts';

const require = (name: string, version: Parameters<typeof requirePackages>[0][number]['version']) => () =>
  requirePackages([{ name, version }], 'The embedding provider x');

describe('packages that users install beside this one', () => {
  test('one that is missing is told with the line that installs it', () => {
    const packages = [
      { name: '@lat.md/embed', version: { exactly: '0.2.0' } },
      { name: 'no-such-package-anywhere', version: { from: '4.3.2' } },
    ] as const;
    expect(() => requirePackages(packages, 'The embedding provider x')).toThrow(
      expect.objectContaining({
        code: 'invalid_config',
        message:
          'The embedding provider x needs packages that are not installed: no-such-package-anywhere is missing. ' +
          'Run: npm install @lat.md/embed@0.2.0 no-such-package-anywhere@^4.3.2',
      }),
    );
  });

  test('one of another version is not taken for the one that is known to work', () => {
    expect(require('@lat.md/embed', { exactly: '0.2.0' })).not.toThrow();
    expect(require('@lat.md/embed', { exactly: '0.3.0' })).toThrow(/@lat\.md\/embed is of version 0\.2\.0/);
    // cockatiel is 4.0.0.
    expect(require('cockatiel', { from: '4.0.0' })).not.toThrow();
    expect(require('cockatiel', { from: '4.0.1' })).toThrow(/version 4\.0\.0/);
    expect(require('cockatiel', { from: '3.9.9' })).toThrow(/version 4\.0\.0/);
  });

  test('a function is called as it was exported, and its absence is told', async () => {
    const exported = await importPackage('node:path');
    expect(exportedFunction(exported, 'basename')('/a/b.txt')).toBe('b.txt');
    expect(() => exportedFunction(exported, 'pipeline')).toThrow(/exports no function pipeline/);
  });
});
