/**
 * The last paragraph of a memory block. It says once what the absence of “confirmed by the user” means, so that
 * no header has to.
 */
export const MATURITY_NOTE =
  'An entry marked “confirmed by the user” was verified by them; the others are records nobody has checked since they were written.';
