/**
 * Who asks: a token in the head. Everything that says no to a caller says it here, before anything of a body is read.
 */
import { SCOPES } from "@posthaste/core/access/scope";
import type { Caller, Callers, RequestHead } from "../http/caller.ts";
import { Problem } from "../http/problem.ts";
import type { AccessStore } from "./access-store.ts";
import { ROUTE_NEEDS } from "./route-needs.ts";
import { hashOf } from "./secret-text.ts";
import type { WrongTokens } from "./wrong-tokens.ts";

/** What whoever holds the token of the environment is called. */
export const ADMIN_NAME = "admin";

export interface TokenCallersOptions {
  readonly adminToken: string;
  readonly store: Pick<AccessStore, "find" | "isCaughtUp">;
  readonly wrong: WrongTokens;
}

export class TokenCallers implements Callers {
  readonly needs = ROUTE_NEEDS;
  readonly #options: TokenCallersOptions;
  readonly #adminHash: string;

  constructor(options: TokenCallersOptions) {
    this.#options = options;
    this.#adminHash = hashOf(options.adminToken);
  }

  callerOf(head: RequestHead): Caller {
    const token = /^Bearer +(.+)$/i.exec(head.authorization ?? "")?.[1];
    if (token === undefined) throw unauthorized();
    return this.callerWith(token, head);
  }

  /** Who holds a token. */
  callerWith(token: string, { address, userAgent }: RequestHead): Caller {
    const { store, wrong } = this.#options;
    wrong.assertFew(address);
    const way = /^posthaste-cli\b/.test(userAgent ?? "") ? "cli" : "api";
    // Hashes are looked up, not texts: how long that takes says nothing of how much of a token was right.
    const hash = hashOf(token);
    if (hash === this.#adminHash) return { tokenId: null, name: ADMIN_NAME, scopes: SCOPES, sessionId: null, way };
    const found = store.find(hash);
    if (found?.kind === "token") {
      return { tokenId: found.id, name: found.name, scopes: found.scopes, sessionId: null, way };
    }
    if (!store.isCaughtUp) throw new Problem("unavailable", "the tokens are still being read: try again soon");
    wrong.note(address);
    throw unauthorized();
  }
}

function unauthorized(): Problem {
  return new Problem("unauthorized", "send the header Authorization: Bearer <token>");
}
