/** Frozen through and through: nothing may change what it is given (CASES G17). Dates can't be frozen. */
export function frozen<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null && !(value instanceof Date)) {
    for (const part of Object.values(value)) frozen(part);
    Object.freeze(value);
  }
  return value;
}
