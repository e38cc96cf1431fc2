/** The handlers of the operations on sign-in links and sessions. */
import { type AccessRecord, ADMIN_TOKEN_ID, LINK_MS, SESSION_MS } from "@posthaste/core/access/access-record";
import type { Author, Caller } from "@posthaste/core/access/author";
import { SCOPES } from "@posthaste/core/access/scope";
import type { Clock } from "@posthaste/core/time";
import type { RequestHead } from "@posthaste/http-kit/caller";
import type { ConsoleOrigins } from "@posthaste/http-kit/console-origins";
import { createCode, createId, createToken, derivedId, hashOf } from "@posthaste/http-kit/identifiers";
import { Problem } from "@posthaste/http-kit/problem";
import type { WrongTokens } from "@posthaste/http-kit/wrong-tokens";
import type { AccessStore } from "./access-store.ts";
import { ADMIN_NAME, stillRead, type TokenCallers } from "./token-callers.ts";
import type { MadeLink, MadeToken } from "./token-handlers.ts";

export interface SessionHandlersOptions {
  readonly store: AccessStore;
  readonly callers: TokenCallers;
  readonly origins: ConsoleOrigins;
  readonly wrong: WrongTokens;
  /** See `adminMarkOf`. */
  readonly adminMark: string;
  readonly clock: Clock;
}

/** The secret that opens a session: the code of a sign-in link, or a token. */
export type Key = { readonly code: string } | { readonly token: string };

export interface OpenedSession {
  readonly caller: Caller;
  readonly record: AccessRecord;
  /** The text for the cookie, which is shown nowhere else. */
  readonly code: string;
}

export class SessionHandlers {
  readonly #options: SessionHandlersOptions;

  constructor(options: SessionHandlersOptions) {
    this.#options = options;
  }

  /** Opens a session. Throws the Problem `unauthorized` for a wrong key, and `too_many_requests`. */
  async open(key: Key, head: RequestHead, by: Author): Promise<OpenedSession> {
    const { callers } = this.#options;
    const { caller, link } =
      "token" in key
        ? { caller: await callers.callerWith(key.token, head), link: null }
        : await this.#findLink(key.code, head);
    const code = createCode();
    const id = createId("ses");
    const asked = { ...by, caller };
    const record = await this.#make(id, { kind: "session", hash: hashOf(code), lifeMs: SESSION_MS }, asked);
    if (link !== null) await this.#useLink(link, id, asked);
    const way = "console" as const;
    return { caller: { ...caller, sessionId: id, way }, record, code };
  }

  find({ sessionId }: Caller): AccessRecord | undefined {
    return sessionId === null ? undefined : this.#options.store.records.get(sessionId);
  }

  /** Ends the caller's session. Throws the Problem `conflict` for a caller with a token and no session. */
  async end(by: Author): Promise<void> {
    const { sessionId } = by.caller;
    if (sessionId === null) throw new Problem("conflict", "you ask by a token: there is no session to end");
    await this.#options.store.records.change(sessionId, () => null, by);
  }

  /** Makes a sign-in link for a token; for the caller's own when none is named. */
  async createLink(head: RequestHead, by: Author, token?: AccessRecord): Promise<MadeLink> {
    const code = createCode();
    const { expiresAtMs } = await this.#make(
      createId("link"),
      { kind: "link", hash: hashOf(code), lifeMs: LINK_MS, token },
      by,
    );
    const origin = this.#options.origins.linkOriginOf(head);
    // Browsers never send the part of a URL behind the # to a server; the page takes the code from there.
    return { link: `${origin}/#sign-in=${code}`, expiresAtMs: expiresAtMs ?? 0 };
  }

  /**
   * Makes a token for the caller's terminal. It ends with the caller's own token, and replaces the terminal's token
   * before it.
   */
  async createOwnToken(by: Author): Promise<MadeToken> {
    const { store, clock, adminMark } = this.#options;
    const own = by.caller.tokenId ?? ADMIN_TOKEN_ID;
    const parent = store.records.get(own);
    // A terminal's token makes one for its own parent.
    const tokenId = parent?.tokenId ?? own;
    const id = derivedId("tok", tokenId, "terminal");
    const token = createToken();
    const name = store.records.get(tokenId)?.name ?? by.caller.name;
    const made: Omit<AccessRecord, "revision"> = {
      ...{ id, kind: "token", name: `${name} (terminal)`, hash: hashOf(token), scopes: by.caller.scopes, tokenId },
      adminMark: tokenId === ADMIN_TOKEN_ID ? adminMark : null,
      ...{ createdAtMs: clock.nowMs(), createdBy: by.caller.name, expiresAtMs: null, usedAtMs: null },
    };
    const record = await store.records.change(id, (_, revision) => ({ ...made, revision }), by);
    return { record: record ?? { ...made, revision: 0 }, token };
  }

  /** Finds a link that can be used, and the caller that its token makes. */
  async #findLink(code: string, { address }: RequestHead) {
    const { store, wrong } = this.#options;
    wrong.assertFew(address);
    const hash = hashOf(code);
    if (!store.knows(hash)) {
      // The code counts as a wrong token meanwhile (CS3 of token-callers.ts).
      wrong.note(address);
      const isRead = await store.records.readLate();
      // A code that was used before is no guess, and neither is one that could not be looked up.
      if (!isRead || store.knows(hash)) wrong.forget(address);
      if (!isRead && !store.knows(hash)) throw stillRead();
    }
    const found = store.find(hash);
    if (found?.kind !== "link") throw noLink();
    const token = store.tokenOf(found);
    const caller: Caller = {
      ...{ tokenId: token?.id ?? null, name: token?.name ?? ADMIN_NAME, scopes: token?.scopes ?? SCOPES },
      ...{ sessionId: null, way: "console" },
    };
    return { caller, link: found };
  }

  /** TK2. */
  async #useLink(link: AccessRecord, sessionId: string, by: Author): Promise<void> {
    const { store, clock } = this.#options;
    try {
      await store.records.change(
        link.id,
        (current, revision) => {
          if (current === undefined || !store.isLive(current)) throw noLink();
          return { ...current, revision, usedAtMs: clock.nowMs() };
        },
        by,
      );
    } catch (error) {
      // Nobody got the session's code, so that a session that is not removed here opens nothing either.
      await store.records.change(sessionId, () => null, by).catch(() => undefined);
      throw error;
    }
  }

  async #make(id: string, { kind, hash, lifeMs, token }: Making, by: Author): Promise<AccessRecord> {
    const { store, clock, adminMark } = this.#options;
    const { caller } = by;
    const tokenId = token?.id ?? caller.tokenId ?? ADMIN_TOKEN_ID;
    const nowMs = clock.nowMs();
    const made: Omit<AccessRecord, "revision"> = {
      ...{ id, kind, name: token?.name ?? caller.name, hash, scopes: [], tokenId },
      adminMark: tokenId === ADMIN_TOKEN_ID ? adminMark : null,
      ...{ createdAtMs: nowMs, createdBy: caller.name, expiresAtMs: nowMs + lifeMs, usedAtMs: null },
    };
    const record = await store.records.change(id, (_, revision) => ({ ...made, revision }), by);
    return record ?? { ...made, revision: 0 };
  }
}

interface Making {
  readonly kind: "link" | "session";
  readonly hash: string;
  readonly lifeMs: number;
  /** The token that it belongs to; the caller's own when it is undefined. */
  readonly token?: AccessRecord | undefined;
}

function noLink(): Problem {
  return new Problem(
    "unauthorized",
    "the code is wrong, was used before, or is older than 24 hours: ask for another link",
  );
}
