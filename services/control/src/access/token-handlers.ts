/** What each call about tokens does. */
import type { AccessRecord } from "@posthaste/core/access/access-record";
import { missingScopes, type Scope } from "@posthaste/core/access/scope";
import type { Clock } from "@posthaste/core/time";
import type { Author } from "../http/caller.ts";
import type { Freshness } from "../http/freshness.ts";
import { type Page, type PageQuery, pageFrom } from "../http/page.ts";
import { Problem } from "../http/problem.ts";
import { createId } from "../identifiers.ts";
import type { AccessStore } from "./access-store.ts";
import { createToken, hashOf } from "./secret-text.ts";

export interface TokenHandlersOptions {
  readonly store: AccessStore;
  readonly clock: Clock;
}

export interface TokenInput {
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** It has no text: browsers sign in for it by links. */
  readonly link: boolean;
}

/** A token, and the text that is told once. */
export interface MadeToken {
  readonly record: AccessRecord;
  readonly token: string;
}

/** A token that may have no text. */
export interface NamedToken {
  readonly record: AccessRecord;
  readonly token: string | null;
}

export class TokenHandlers {
  readonly #options: TokenHandlersOptions;

  constructor(options: TokenHandlersOptions) {
    this.#options = options;
  }

  list(query: PageQuery): Page<AccessRecord> & Freshness {
    const { store } = this.#options;
    const tokens = [...store.records.values()].filter((record) => record.kind === "token" && store.isLive(record));
    return { ...pageFrom(tokens, query), ...store.freshness };
  }

  /** Throws the Problem `forbidden` for scopes that the caller has not. */
  async create({ name, scopes, link }: TokenInput, by: Author): Promise<NamedToken> {
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
    const record = await store.records.change(id, (_, revision) => ({ ...made, revision }), by);
    return { record: findToken(record, id), token };
  }

  /** What acts as the token ends with it. Throws the Problem `not_found`. */
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

function findToken(record: AccessRecord | undefined, id: string): AccessRecord {
  if (record?.kind !== "token") throw new Problem("not_found", `there is no token ${id}`);
  return record;
}
