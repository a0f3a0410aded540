/**
 * What a data set's SOURCE.md says about its licence: the first paragraph or list item that speaks of it, on one
 * line. Kept in every result, since figures outlive the folder they were measured on.
 */
export function licenceNote(source: string | null): string {
  if (source === null) return 'not stated: the data set has no SOURCE.md';
  const items = source.split(/\n\s*\n|\n(?=\s*[-*] )/).filter((item) => !/^\s*#/.test(item));
  const item = items.find((text) => /licen[cs]e/i.test(text));
  if (item === undefined) return 'not stated in SOURCE.md';
  return item
    .replace(/^\s*[-*] /, '')
    .replace(/\s+/g, ' ')
    .trim();
}
