/** What somebody who holds a token may do. */

/**
 * `read`: whatever changes nothing. `write`: configuration, tests, deletions, purges, tokens. `replay`: whatever sends
 * deliveries again.
 */
export const SCOPES = ["read", "write", "replay"] as const;
export type Scope = (typeof SCOPES)[number];

/** Those of `asked` that are not among `own`. */
export function missingScopes(own: readonly Scope[], asked: readonly Scope[]): readonly Scope[] {
  return asked.filter((scope) => !own.includes(scope));
}
