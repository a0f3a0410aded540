import { expect, it } from 'vitest';
import { licenceNote } from './licence-note.ts';

it('takes the list item that speaks of the licence, on one line', () => {
  const source =
    '# A licensed set\n\n- Origin: somewhere\n- Licence: CC BY 4.0.\n  Name the authors.\n- Errors: none\n';
  expect(licenceNote(source)).toBe('Licence: CC BY 4.0. Name the authors.');
});

it('takes a paragraph, in American spelling too', () => {
  expect(licenceNote('# Set\n\nSame license as\nthe other.\n\n## More')).toBe('Same license as the other.');
});

it('says so where nothing is stated', () => {
  expect(licenceNote(null)).toMatch(/no SOURCE\.md/);
  expect(licenceNote('# Set\n\nNothing.')).toMatch(/not stated in SOURCE\.md/);
});
