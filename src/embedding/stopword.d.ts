/** The package ships no types. Only the list we use is declared. */
declare module 'stopword' {
  /** English stop words, lower case. */
  export const eng: readonly string[];
}
