/**
 * The holdings of a request until its response closes: the bytes of its body, and its place among its source's active
 * requests.
 *
 * Owns: the functions that release these.
 * XC1  Everything is released once, when the response closes, whether it was answered or not. Fastify's onResponse does
 *      not serve for this: it never comes when the sender leaves before its answer. A response closes in any case, even
 *      one that waits behind others of its connection.
 * XC2  Whatever begins after the response has closed is released at once.
 * XC3  The body is released earlier where nothing more is made of it.
 */
import type { ServerResponse } from "node:http";

export class Exchange {
  /** The id of the request's source, once it is found. */
  sourceId: string | null = null;
  #releases: (() => void)[] | null = [];
  #releaseBody: (() => void) | null = null;

  constructor(response: ServerResponse) {
    response.on("close", () => {
      const releases = this.#releases ?? [];
      this.#releases = null;
      for (const release of releases) release();
    });
  }

  /** True once the response has closed, when nobody waits for an answer any more. */
  get isOver(): boolean {
    return this.#releases === null;
  }

  /** Calls `release` when the response closes (XC1), or at once (XC2). */
  untilClose(release: () => void): void {
    if (this.#releases === null) release();
    else this.#releases.push(release);
  }

  /**
   * Calls `release` once: in `letBodyGo` or when the response closes, whichever comes first. No function that is made
   * here captures `release`: when one did, the objects of a request outlived it by a collection or two of V8's young
   * generation and were moved to the old one, 2 KB a call.
   */
  holdBody(release: () => void): void {
    this.#releaseBody = release;
    this.untilClose(() => this.letBodyGo());
  }

  /** Releases the body, of which nothing is needed any more (XC3). */
  letBodyGo(): void {
    const release = this.#releaseBody;
    this.#releaseBody = null;
    release?.();
  }
}
