/** The user a handle acts for. */
export interface ActAsInput {
  /** One segment of a namespace: `vector.user.<userId>.…` is the user's own. */
  readonly userId: string;
  /** Default `default`. */
  readonly tenantId?: string | undefined;
  /** Patterns opened for reading beyond the user's own and `vector.global.*`. */
  readonly readGrants?: readonly string[] | undefined;
  /** Patterns opened for writing beyond the user's own. */
  readonly writeGrants?: readonly string[] | undefined;
}
