/** The part of the package we use; it ships no types. */
declare module 'fs-native-extensions' {
  /** Takes an exclusive lock on the whole file, or returns false if another descriptor holds one. */
  export function tryLock(descriptor: number): boolean;
}
