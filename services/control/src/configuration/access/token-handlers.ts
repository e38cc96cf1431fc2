/** The handlers of the operations on tokens. */

import type { AccessRecord } from "@posthaste/core/access/access-record";
import type { Author } from "@posthaste/core/access/author";
import { missingScopes, type Scope } from "@posthaste/core/access/scope";
import type { Clock } from "@posthaste/core/time";
import { type FreshAnswer, freshAnswer } from "@posthaste/http-kit/freshness";
import { createId, createToken, hashOf } from "@posthaste/http-kit/identifiers";
import { type Page, type PageQuery, pageFrom } from "@posthaste/http-kit/page";
import { Problem } from "@posthaste/http-kit/problem";
import type { AccessStore } from "./access-store.ts";
import type { TokenUses } from "./token-uses.ts";

export interface TokenHandlersOptions {
  readonly store: AccessStore;
  readonly uses: Pick<TokenUses, "usedAtMs">;
  readonly clock: Clock;
}

export interface TokenInput {
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** The token has no text of its own: browsers get it by sign-in links. */
  readonly link: boolean;
}

/** A token with its text, which is shown once. */
export interface MadeToken {
  readonly record: AccessRecord;
  readonly token: string;
}

/** A token with its text or its link, which is shown once. */
export interface NamedToken {
  readonly record: AccessRecord;
  readonly token: string | null;
  readonly link: string | null;
}

export interface MadeLink {
  readonly link: string;
  readonly expiresAtMs: number;
}

/** How browsers use a token. */
interface TokenUse {
  /** Until when a sign-in link can be opened that nobody has opened; null when there is none. */
  readonly linkUntilMs: number | null;
  /** The last use of a session that was written; null for none. */
  readonly sessionUsedAtMs: number | null;
}
const NO_USE: TokenUse = { linkUntilMs: null, sessionUsedAtMs: null };

export interface ListedToken extends TokenUse {
  readonly record: AccessRecord;
  /** When the token's text was last used; null for never. */
  readonly usedAtMs: number | null;
}

export class TokenHandlers {
  readonly #options: TokenHandlersOptions;

  constructor(options: TokenHandlersOptions) {
    this.#options = options;
  }

  list(query: PageQuery): Page<ListedToken> & FreshAnswer {
    const { store, uses } = this.#options;
    const live = [...store.records.values()].filter((record) => store.isLive(record));
    const { data, nextCursor } = pageFrom(
      live.filter(({ kind }) => kind === "token"),
      query,
    );
    const byToken = usesOf(live);
    const listed = data.map((record) => ({
      ...{ record, ...(byToken.get(record.id) ?? NO_USE) },
      usedAtMs: uses.usedAtMs(record.id),
    }));
    return { data: listed, nextCursor, ...freshAnswer(store.freshness) };
  }

  /**
   * Makes a token. Calls `makeLink` before the token is written, where it is to have a link (TK4 of access-store.ts).
   * Throws the Problem `forbidden` for scopes that the caller does not have.
   */
  async create(
    { name, scopes, link }: TokenInput,
    by: Author,
    makeLink: (token: AccessRecord) => Promise<MadeLink>,
  ): Promise<NamedToken> {
    const { store, clock } = this.#options;
    const [missing] = missingScopes(by.caller.scopes, scopes);
    if (missing !== undefined) {
      throw new Problem("forbidden", `your token has not the scope ${missing}: it can make none that has`);
    }
    const token = link ? null : createToken();
    const id = createId("tok");
    const made: Omit<AccessRecord, "revision"> = {
      ...{
        id,
        kind: "token",
        name,
        hash: token === null ? null : hashOf(token),
        scopes,
        tokenId: null,
        adminMark: null,
      },
      ...{ createdAtMs: clock.nowMs(), createdBy: by.caller.name, expiresAtMs: null, usedAtMs: null },
    };
    const madeLink = link ? await makeLink({ ...made, revision: 0 }) : null;
    const record = await store.records.change(id, (_, revision) => ({ ...made, revision }), by);
    return { record: findToken(record, id), token, link: madeLink?.link ?? null };
  }

  /** Revokes a token, and with it everything that acts as the token. Throws the Problem `not_found`. */
  async revoke(id: string, by: Author): Promise<void> {
    await this.#options.store.records.change(
      id,
      (current) => {
        findToken(current, id);
        return null;
      },
      by,
    );
  }
}

/** The uses of each token, by its links and sessions that are not over. */
function usesOf(live: readonly AccessRecord[]): ReadonlyMap<string, TokenUse> {
  const uses = new Map<string, TokenUse>();
  for (const { kind, tokenId, createdAtMs, expiresAtMs, usedAtMs } of live) {
    if (tokenId === null) continue;
    const known = uses.get(tokenId) ?? NO_USE;
    if (kind === "link") {
      uses.set(tokenId, { ...known, linkUntilMs: Math.max(known.linkUntilMs ?? 0, expiresAtMs ?? 0) });
    }
    if (kind === "session") {
      const usedMs = usedAtMs ?? createdAtMs;
      uses.set(tokenId, { ...known, sessionUsedAtMs: Math.max(known.sessionUsedAtMs ?? 0, usedMs) });
    }
  }
  return uses;
}

function findToken(record: AccessRecord | undefined, id: string): AccessRecord {
  if (record?.kind !== "token") throw new Problem("not_found", `there is no token ${id}`);
  return record;
}
