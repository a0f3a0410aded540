import { expect, test } from 'vitest';
import { parseOneLineSources, parseStanzas } from '../../scripts/postgres/debian.ts';

test('one-line sources: options are skipped, deb-src and comments are not sources', () => {
  expect(
    parseOneLineSources([
      '# deb https://mirror.example/debian bookworm main',
      'deb [arch=amd64 signed-by=/usr/share/keyrings/a.gpg] https://mirror.example/debian bookworm main contrib',
      'deb-src https://mirror.example/debian bookworm main',
      '',
    ]),
  ).toEqual([
    { uri: 'https://mirror.example/debian', suites: ['bookworm'], components: ['main', 'contrib'] },
  ]);
});

test('deb822 stanzas: several suites, several URIs, continued lines, disabled ones left out', () => {
  const text = [
    'Types: deb deb-src',
    'URIs: https://one.example/debian',
    ' https://two.example/debian',
    'Suites: bookworm bookworm-updates',
    'Components: main',
    '',
    'Enabled: no',
    'Types: deb',
    'URIs: https://off.example/debian',
    'Suites: bookworm',
    'Components: main',
  ].join('\n');
  const suites = ['bookworm', 'bookworm-updates'];
  expect(parseStanzas(text)).toEqual([
    { uri: 'https://one.example/debian', suites, components: ['main'] },
    { uri: 'https://two.example/debian', suites, components: ['main'] },
  ]);
});
