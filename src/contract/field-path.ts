/** A field's place as errors write it: `filter.tags.any`, `memories[3].content`. */
export function fieldPath(steps: readonly PropertyKey[]): string {
  return steps.reduce<string>((path, step) => {
    if (typeof step === 'number') return `${path}[${step}]`;
    return path === '' ? String(step) : `${path}.${String(step)}`;
  }, '');
}
