/**
 * The addresses of the console: a browser with a session sends one of them as its `Host`, and for changes as its
 * `Origin`.
 */
import type { RequestHead } from "./caller.ts";
import { Problem } from "./problem.ts";

export interface ConsoleOriginsOptions {
  /** Such as `https://posthaste.example`; 127.0.0.1 and localhost on the port when there are none. */
  readonly configured: readonly string[];
  /** The port that control listens on. */
  readonly port: () => number;
}

export class ConsoleOrigins {
  readonly #options: ConsoleOriginsOptions;

  constructor(options: ConsoleOriginsOptions) {
    this.#options = options;
  }

  get port(): number {
    return this.#options.port();
  }

  /** The console's origin for the request's `Host`. Throws the Problem `forbidden` for any other. */
  originOf({ host }: RequestHead): string {
    const found = this.#all().find((origin) => new URL(origin).host === host?.toLowerCase());
    if (found !== undefined) return found;
    throw new Problem("forbidden", "sessions are for the addresses of POSTHASTE_CONSOLE_ORIGINS alone");
  }

  /** The origin of a sign-in link: the address of the request, where that is the console's, or else its first. */
  linkOriginOf({ host }: RequestHead): string {
    const all = this.#all();
    return all.find((origin) => new URL(origin).host === host?.toLowerCase()) ?? all[0] ?? "";
  }

  /** Throws the Problem `forbidden` for a request from a page of another origin. */
  assertOwnPage({ origin }: RequestHead): void {
    if (origin !== undefined && this.#all().includes(origin)) return;
    throw new Problem("forbidden", "a change by a session needs the console's own Origin");
  }

  #all(): readonly string[] {
    const { configured, port } = this.#options;
    if (configured.length > 0) return configured;
    return [`http://127.0.0.1:${port()}`, `http://localhost:${port()}`];
  }
}
