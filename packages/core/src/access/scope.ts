/** Scopes: the rights of a token's holder. */

/**
 * `read`: everything that changes nothing. `write`: configuration, tests, deletions, purges, tokens. `replay`:
 * everything that sends deliveries again.
 */
export const SCOPES = ["read", "write", "replay"] as const;
export type Scope = (typeof SCOPES)[number];

/** The scopes of `asked` that are not among `own`. */
export function missingScopes(own: readonly Scope[], asked: readonly Scope[]): readonly Scope[] {
  return asked.filter((scope) => !own.includes(scope));
}
