/**
 * What a request holds until its response closes: the bytes of its body, and its place among its source's active
 * requests.
 *
 * Owns what is to be released then.
 * XC1  Everything is released once, when the response closes, whether or not it was answered. Fastify's onResponse is
 *      not used for this: it never comes when the sender leaves before its answer. A response closes in any case, also
 *      one that waits behind others of its connection.
 * XC2  What is begun after the response has closed is released at once.
 */
import type { ServerResponse } from "node:http";

export interface Exchange {
  /** True once the response has closed: nobody hears an answer any more. */
  readonly isOver: boolean;
  /** Calls `release` when the response closes (XC1), or at once (XC2). */
  untilClose(release: () => void): void;
}

export function createExchange(response: ServerResponse): Exchange {
  const releases: (() => void)[] = [];
  let isOver = false;
  response.once("close", () => {
    isOver = true;
    for (const release of releases) release();
  });
  return {
    get isOver() {
      return isOver;
    },
    untilClose: (release) => {
      if (isOver) release();
      else releases.push(release);
    },
  };
}
