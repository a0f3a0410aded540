import type { KeyScope } from './governance.ts';
import type { Principal } from './types.ts';

/** Who asks and what they showed for it: what a face learns from a request's headers, never from its body. */
export interface Identity {
  readonly principal: Principal;
  /** What the request may be used for. Each scope stands for itself: `admin` alone reads no memories. */
  readonly scopes: readonly KeyScope[];
  /** Id of the API key; null where something else was shown. */
  readonly keyId: string | null;
  /** The token's own id (`jti`); null where it has none, or where something else was shown. */
  readonly tokenId: string | null;
  /** The one agent this identity may act for; null for any. */
  readonly agentId: string | null;
}

/** What a bearer token's signature is checked with. */
export type TokenKeySource =
  /** A JSON Web Key Set, fetched over HTTPS (or from this machine) and kept until a token names an unknown key. */
  | { readonly jwksUrl: string }
  /** A secret shared with the issuer, at least 32 bytes of UTF-8. */
  | { readonly sharedSecret: string };

/** How bearer tokens are read. Names of claims may be dotted paths, such as `realm_access.roles`. */
export interface TokenOptions {
  readonly keys: TokenKeySource;
  /** The exact `iss` of every token. */
  readonly issuer: string;
  /** What `aud` must hold. */
  readonly audience: string;
  /** Algorithms a token may be signed with. Default: HS256 with a secret; RS256, ES256 and EdDSA with a key set. */
  readonly algorithms?: readonly string[] | undefined;
  /** Seconds that clocks may differ by, 0..300, default 30. */
  readonly clockToleranceSeconds?: number | undefined;
  /** Claim of the user, default `sub`. */
  readonly userClaim?: string | undefined;
  /** Claim of the tenant, default `tenant_id`. */
  readonly tenantClaim?: string | undefined;
  /** The tenant of tokens without that claim. Default: such tokens are refused. */
  readonly defaultTenant?: string | undefined;
  /** Claim of the scopes or roles, a list or words in one text, default `scope`. */
  readonly scopeClaim?: string | undefined;
  /** What each role or scope of the issuer may be used for here. Default: its own name, where that is a scope here. */
  readonly scopesByRole?: Readonly<Record<string, readonly KeyScope[]>> | undefined;
  /** Claim of the one agent the token may act for. Default: none is read. */
  readonly agentClaim?: string | undefined;
}
