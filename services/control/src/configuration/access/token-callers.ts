/**
 * Finds the caller of a request, by a token in its head or by the cookie of a session that acts as a token. A caller
 * that is not allowed is refused here, before anything of the body is read.
 *
 * CS1  A cookie counts only at the console's own addresses, and for a change only from the console's own page.
 * CS2  A session's use is written when the last use that was written is five minutes old; no request waits for that.
 * CS3  Another process may have made an unknown token, or session, a moment ago. So the topic is read to its end before
 *      the request is refused (NH1 of late-records.ts). Meanwhile the token counts as a wrong one, so that requests
 *      that come at once are bounded too.
 * CS4  Ten unknown sessions a minute are looked up for each address; further ones are refused at once. They do not
 *      count as wrong tokens, since pages that are open when their session ends go on asking.
 */
import { type AccessRecord, SESSION_NOTE_MS } from "@posthaste/core/access/access-record";
import type { Caller } from "@posthaste/core/access/author";
import { SCOPES } from "@posthaste/core/access/scope";
import type { Log } from "@posthaste/core/log";
import type { Clock } from "@posthaste/core/time";
import type { Callers, RequestHead } from "@posthaste/http-kit/caller";
import type { ConsoleOrigins } from "@posthaste/http-kit/console-origins";
import { hashOf } from "@posthaste/http-kit/identifiers";
import { Problem } from "@posthaste/http-kit/problem";
import { readSessionCookie } from "@posthaste/http-kit/session-cookie";
import { WrongTokens } from "@posthaste/http-kit/wrong-tokens";
import type { AccessStore } from "./access-store.ts";
import { ROUTE_NEEDS } from "./route-needs.ts";
import type { TokenUses } from "./token-uses.ts";

/** The name of a caller with the token of the environment. */
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
  /** The sessions whose use is being written. */
  readonly #noted = new Set<string>();
  /** How many unknown sessions were looked up for each address (CS4). */
  readonly #looks: WrongTokens;

  constructor(options: TokenCallersOptions) {
    this.#options = options;
    this.#adminHash = hashOf(options.adminToken);
    this.#looks = new WrongTokens(options.clock);
  }

  async callerOf(head: RequestHead): Promise<Caller> {
    const token = /^Bearer +(.+)$/i.exec(head.authorization ?? "")?.[1];
    if (token !== undefined) return await this.callerWith(token, head);
    if (head.cookie?.includes("posthaste-session-") !== true) throw unauthorized();
    return await this.#callerInSession(head);
  }

  isStillAllowed({ tokenId, sessionId }: Caller): boolean {
    const { store } = this.#options;
    return [tokenId, sessionId].every((id) => {
      const record = id === null ? undefined : store.records.get(id);
      return id === null || (record !== undefined && store.isLive(record));
    });
  }

  /** CS1. */
  async #callerInSession(head: RequestHead): Promise<Caller> {
    const { store, origins } = this.#options;
    const { port } = origins;
    const code = readSessionCookie(head.cookie, { port, origin: origins.originOf(head) });
    if (code === undefined) throw unauthorized();
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

  /** The caller with this token. */
  async callerWith(token: string, { address, userAgent }: RequestHead): Promise<Caller> {
    const { wrong } = this.#options;
    wrong.assertFew(address);
    const way = /^posthaste-cli\b/.test(userAgent ?? "") ? "cli" : "api";
    // Hashes are looked up, not texts, so that the time of a look-up says nothing of how much of a token was right.
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
