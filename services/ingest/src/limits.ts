/** The bounds of the gateway. Those on sizes are public; the others keep memory and time bounded whatever arrives. */

import { MAX_STAND_INS } from "@posthaste/core/call/parse-json";
import { DEFAULT_SOCKET_LIMITS, type SocketLimits } from "@posthaste/runtime/socket-limits";

/** The most bytes of one call after decompression: 32 KB. */
export const MAX_CALL_BYTES = 32_768;

/**
 * The most bytes of one request's body, both as sent and after decompression: 500 KB, as much as the largest legal
 * batches of real clients have.
 */
export const MAX_REQUEST_BYTES = 512_000;

/**
 * The most bytes of a batch beside its calls, as they are written, which are parsed in one piece: two objects of a
 * call's size that are written with blanks and escapes.
 */
export const MAX_ENVELOPE_BYTES = 4 * MAX_CALL_BYTES;

/**
 * How many bytes of a body that is too large are still read, so that its sender gets the 413: closing a connection with
 * unread bytes resets it, and the answer is lost.
 */
export const MAX_DISCARDED_BYTES = 8 * 1024 * 1024;

/** The most bytes of the bodies that are being read or answered, of all requests together. */
export const MAX_HELD_BODY_BYTES = 64 * 1024 * 1024;

/** The process is not ready while the budget of bodies has been full for longer than this, in ms. */
export const READY_FULL_MS = 5_000;

/**
 * The most bytes of the events of one request: a batch's context stands in each of its calls, which can make much of
 * little.
 */
export const MAX_EXPANDED_BYTES = 8 * 1024 * 1024;

/**
 * The most characters of a batch's context, and of its integrations, as compact JSON: each stands in a call, and a call
 * may have no more.
 */
export const MAX_SHARED_LENGTH = 32_768;

/**
 * The most keys of a batch's calls that are parsed through a stand-in (parse-json.ts), each counted once in a run: a
 * hundred in every run of a large batch. No known client has one.
 */
export const MAX_BATCH_STAND_INS = 4 * MAX_STAND_INS;

/**
 * How many bytes each of a batch's integrations counts for `MAX_EXPANDED_BYTES`: in a call that takes them as they are,
 * and in a call with integrations of its own. An event has them as a map, which is written key by key, and merging
 * copies it.
 */
export const SHARED_KEY_BYTES = 48;
export const MERGED_KEY_BYTES = 96;

/** The most refused calls of one batch that are listed and kept; a batch with more is no batch of calls. */
export const MAX_REJECTED_CALLS = 2_500;

/** How long a request waits for the brokers' acknowledgement before it is answered 503, in ms. */
export const ACKNOWLEDGE_TIMEOUT_MS = 5_000;

/** How long an unknown write key may wait for the table of sources to be read to its end, in ms. */
export const REFRESH_TIMEOUT_MS = 1_000;

/** How many requests may wait for that at once. Each holds its key and the bytes that its socket has buffered. */
export const MAX_WAITING_FOR_SOURCES = 512;

/**
 * How long the work of requests may take in one round of the event loop, in ms. Between two rounds the process does
 * everything else, so that a call waits for at least this and one piece of work while many others come. A call passes
 * through four or five rounds, and reading and answering take as much of a round as its work.
 */
export const ROUND_MS = 3;

/** The part of `ROUND_MS` for strangers, in ms. Their bodies can only be searched for a key. */
export const STRANGERS_ROUND_MS = 0.5;

/** How long writing answers may take in one round, in ms: some twenty or thirty answers. */
export const ANSWERS_ROUND_MS = 1;

/**
 * How many bytes of bodies are read in one round before large bodies wait for their turns: about a millisecond. A body
 * of at most one piece is small: Node reads as much at once.
 */
export const READ_ROUND_BYTES = 1024 * 1024;
export const READ_PIECE_BYTES = 64 * 1024;

/** How many bodies may wait to be read on; Node holds up to two pieces of each, which no budget counts. */
export const MAX_WAITING_BODIES = 256;

/**
 * How many bodies of one address may wait to be searched for their keys before less of each is inflated: a client sends
 * one batch after the other, or some at once.
 */
export const CROWD = 32;

/**
 * How many bytes of a stranger's body are then inflated to find its key. A client's usual batch of a hundred calls is
 * smaller.
 */
export const CROWD_INFLATED_BYTES = 256 * 1024;

/** How many rounds without work are between two with work while connections come. */
export const CONNECTING_ROUNDS = 16;

/** The process is busy while its rounds with work take longer than this in the mean, in ms. */
export const BUSY_ROUND_MS = 15;

/**
 * How many active requests the sources share while the process is busy; and how long a source counts among them after
 * its last request, in ms.
 */
export const MAX_ACTIVE_REQUESTS = 128;
export const ACTIVE_MS = 1_000;

/**
 * How much work may wait, in ms of its expected cost. The sources share it, and a source that is alone has all of it.
 */
export const MAX_WAITING_WORK_MS = 1_000;

/** The expected cost of a source's request before any was seen, in ms. */
export const USUAL_WORK_MS = 1;

/** How many bodies larger than a call may be parsed and not finished: each may hold some tens of megabytes. */
export const MAX_BEGUN = 4;

/** After this many calls of a batch, or bytes of its events, work of others has its turn. */
export const STEP_CALLS = 64;
export const STEP_BYTES = 64 * 1024;

/**
 * How many refusals of one source in a second are answered at once; the others are answered at least this much later,
 * in ms.
 */
export const PROMPT_REFUSALS = 20;
export const REFUSAL_DELAY_MS = 1_000;

/** How many refusals may be held for that at once. */
export const MAX_HELD_REFUSALS = 1_024;

/** For how many seconds a refused caller is asked to stay away. */
export const RETRY_AFTER_S = 1;

/** The most bytes of all headers of a request. */
export const MAX_HEADER_BYTES = 16 * 1024;

/** How slow a sender may be, in ms. */
export interface ReadTimeouts {
  readonly headersMs: number;
  /** For the whole request, from its first byte to its body's last. */
  readonly requestMs: number;
  /** How often both are checked. */
  readonly checkMs: number;
}

export const READ_TIMEOUTS: ReadTimeouts = { headersMs: 10_000, requestMs: 30_000, checkMs: 1_000 };

/**
 * The limits of a connection. An answer comes within the 30 s of its request, the second for the table of sources, and
 * the 5 s for the brokers.
 */
export const SOCKET_LIMITS: SocketLimits = {
  ...DEFAULT_SOCKET_LIMITS,
  maxConnections: 20_000,
  idleMs: 30_000,
  exchangeMs: 45_000,
};

/**
 * How long after the beginning of a stop requests that are not answered are cut off, in ms: a little over the 5 s for
 * the acknowledgement.
 */
export const STOP_TIMEOUT_MS = 6_000;
