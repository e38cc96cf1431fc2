/**
 * Who asks: a token in the head, or the cookie of a session that acts as one. What says no to a caller says it here,
 * before anything of a body is read.
 *
 * CS1  A cookie is taken at the console's own addresses alone, and for a change from the console's own page.
 * CS2  A session's use is written when the last one that was is five minutes old; nobody waits for that.
 * CS3  A token that is not known may have been made by another process a moment ago, and so may a session: the topic
 *      is read to its end before it is refused (NH1 of late-records.ts). Meanwhile a token counts as a wrong one, so
 *      that what comes at once is bounded too.
 * CS4  Ten sessions a minute that nobody knows are looked for by address; those that come then are refused at once.
 *      They count as no wrong tokens: pages that are open when their session ends go on asking.
 */
import { type AccessRecord, SESSION_NOTE_MS } from "@posthaste/core/access/access-record";
import { SCOPES } from "@posthaste/core/access/scope";
import type { Log } from "@posthaste/core/log";
import type { Clock } from "@posthaste/core/time";
import type { Caller, Callers, RequestHead } from "../http/caller.ts";
import { Problem } from "../http/problem.ts";
import type { AccessStore } from "./access-store.ts";
import type { ConsoleOrigins } from "./console-origins.ts";
import { ROUTE_NEEDS } from "./route-needs.ts";
import { hashOf } from "./secret-text.ts";
import { readSessionCookie } from "./session-cookie.ts";
import type { TokenUses } from "./token-uses.ts";
import { WrongTokens } from "./wrong-tokens.ts";

/** What whoever holds the token of the environment is called. */
export const ADMIN_NAME = "admin";

export interface TokenCallersOptions {
  readonly adminToken: string;
  readonly store: AccessStore;
  readonly origins: ConsoleOrigins;
  readonly clock: Clock;
  readonly log: Log;
  readonly wrong: WrongTokens;
  readonly uses: Pick<TokenUses, "note">;
}

export class TokenCallers implements Callers {
  readonly needs = ROUTE_NEEDS;
  readonly #options: TokenCallersOptions;
  readonly #adminHash: string;
  /** Sessions whose use is being written. */
  readonly #noted = new Set<string>();
  /** Sessions that were looked for (CS4). */
  readonly #looks: WrongTokens;

  constructor(options: TokenCallersOptions) {
    this.#options = options;
    this.#adminHash = hashOf(options.adminToken);
    this.#looks = new WrongTokens(options.clock);
  }

  async callerOf(head: RequestHead): Promise<Caller> {
    const token = /^Bearer +(.+)$/i.exec(head.authorization ?? "")?.[1];
    if (token !== undefined) return await this.callerWith(token, head);
    const code = readSessionCookie(head.cookie, this.#options.origins.port);
    if (code === undefined) throw unauthorized();
    return await this.#callerInSession(code, head);
  }

  /** Whether what somebody asked by stands still: a request may last longer than it. */
  isStillAllowed({ tokenId, sessionId }: Caller): boolean {
    const { store } = this.#options;
    return [tokenId, sessionId].every((id) => {
      const record = id === null ? undefined : store.records.get(id);
      return id === null || (record !== undefined && store.isLive(record));
    });
  }

  /** CS1. */
  async #callerInSession(code: string, head: RequestHead): Promise<Caller> {
    const { store, origins } = this.#options;
    origins.originOf(head);
    if (head.method !== "GET") origins.assertOwnPage(head);
    const hash = hashOf(code);
    const session = this.#sessionOf(hash) ?? (await this.#sessionReadNow(hash, head.address));
    const { id: sessionId } = session;
    this.#noteUse(session);
    const token = store.tokenOf(session);
    const way = "console" as const;
    if (token === undefined) return { tokenId: null, name: ADMIN_NAME, scopes: SCOPES, sessionId, way };
    return { tokenId: token.id, name: token.name, scopes: token.scopes, sessionId, way };
  }

  #sessionOf(hash: string): AccessRecord | undefined {
    const found = this.#options.store.find(hash);
    return found?.kind === "session" ? found : undefined;
  }

  /** CS3 and CS4. */
  async #sessionReadNow(hash: string, address: string): Promise<AccessRecord> {
    const { store } = this.#options;
    if (!store.isCaughtUp) throw stillRead();
    if (!store.knows(hash) && !this.#looks.areMany(address)) {
      this.#looks.note(address);
      await store.records.readLate();
    }
    const found = this.#sessionOf(hash);
    if (found === undefined) throw new Problem("unauthorized", "the session is over: sign in again");
    this.#looks.forget(address);
    return found;
  }

  /** CS2. */
  #noteUse(session: AccessRecord): void {
    const { store, clock, log } = this.#options;
    const nowMs = clock.nowMs();
    if (nowMs < (session.usedAtMs ?? session.createdAtMs) + SESSION_NOTE_MS || this.#noted.has(session.id)) return;
    this.#noted.add(session.id);
    store.records
      .change(
        session.id,
        (current, revision) => (current === undefined ? null : { ...current, revision, usedAtMs: nowMs }),
        null,
      )
      .catch((error: unknown) => log.warn({ event: "session_use_not_written", err: error }))
      .finally(() => this.#noted.delete(session.id));
  }

  /** Who holds a token. */
  async callerWith(token: string, { address, userAgent }: RequestHead): Promise<Caller> {
    const { wrong } = this.#options;
    wrong.assertFew(address);
    const way = /^posthaste-cli\b/.test(userAgent ?? "") ? "cli" : "api";
    // Hashes are looked up, not texts: how long that takes says nothing of how much of a token was right.
    const hash = hashOf(token);
    if (hash === this.#adminHash) return { tokenId: null, name: ADMIN_NAME, scopes: SCOPES, sessionId: null, way };
    const found = this.#tokenOf(hash) ?? (await this.#tokenReadNow(hash, address));
    this.#options.uses.note(found);
    return { tokenId: found.id, name: found.name, scopes: found.scopes, sessionId: null, way };
  }

  #tokenOf(hash: string): AccessRecord | undefined {
    const found = this.#options.store.find(hash);
    return found?.kind === "token" ? found : undefined;
  }

  /** CS3. */
  async #tokenReadNow(hash: string, address: string): Promise<AccessRecord> {
    const { store, wrong } = this.#options;
    if (!store.isCaughtUp) throw stillRead();
    wrong.note(address);
    if (!store.knows(hash)) await store.records.readLate();
    const found = this.#tokenOf(hash);
    if (found === undefined) throw unauthorized();
    wrong.forget(address);
    return found;
  }
}

export function stillRead(): Problem {
  return new Problem("unavailable", "the tokens are still being read: try again soon");
}

function unauthorized(): Problem {
  return new Problem("unauthorized", "send the header Authorization: Bearer <token>");
}
