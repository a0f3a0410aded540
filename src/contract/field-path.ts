/** A field's place as errors write it: `filter.tags.any`, `memories[3].content`. */
export function fieldPath(steps: readonly PropertyKey[]): string {
  return steps.reduce<string>((path, step) => {
    if (typeof step === 'number') return `${path}[${step}]`;
    return path === '' ? shortName(String(step)) : `${path}.${shortName(String(step))}`;
  }, '');
}

/** Longest field name an error repeats, in UTF-16 units. */
const SHOWN_NAME_LENGTH = 64;

/** A caller's field name as an error repeats it: a name may be as long as its body. */
export function shortName(name: string): string {
  return name.length <= SHOWN_NAME_LENGTH ? name : `${name.slice(0, SHOWN_NAME_LENGTH)}…`;
}
