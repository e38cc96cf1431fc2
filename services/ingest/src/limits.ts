/** The bounds of the gateway. Those of size are public; the rest keep memory and time bounded whatever arrives. */

import { MAX_STAND_INS } from "@posthaste/core/call/parse-json";
import { DEFAULT_SOCKET_LIMITS, type SocketLimits } from "@posthaste/runtime/socket-limits";

/** One call, after decompression; 32 KB. */
export const MAX_CALL_BYTES = 32_768;

/** One request's body, as sent and after decompression; 500 KB, as the largest legal batches of real clients are. */
export const MAX_REQUEST_BYTES = 512_000;

/**
 * What of a batch stands beside its calls, as it is written, which is parsed in one piece: two objects of a call's size
 * that are written with blanks and escapes.
 */
export const MAX_ENVELOPE_BYTES = 4 * MAX_CALL_BYTES;

/**
 * A body that is too large is still read up to here, so that its sender sees the 413: a connection that is closed with
 * unread bytes is reset, and the answer is lost with it.
 */
export const MAX_DISCARDED_BYTES = 8 * 1024 * 1024;

/** Bodies that are being read or answered, all requests together. */
export const MAX_HELD_BODY_BYTES = 64 * 1024 * 1024;

/**
 * When bodies have been refused for longer than this because too much is held, the process is not ready for more; ms.
 */
export const READY_FULL_MS = 5_000;

/** Events made from one request: a batch's context stands in each of its calls, which can make much of little. */
export const MAX_EXPANDED_BYTES = 8 * 1024 * 1024;

/**
 * Characters of a batch's context, and of its integrations, as compact JSON: each stands in a call, which may have no
 * more itself.
 */
export const MAX_SHARED_LENGTH = 32_768;

/**
 * Keys of a batch's calls that are parsed by a stand-in (parse-json.ts), each counted once in a run of them: a hundred
 * in every run of a large batch, and no client that is known has one.
 */
export const MAX_BATCH_STAND_INS = 4 * MAX_STAND_INS;

/**
 * What each of a batch's integrations counts towards `MAX_EXPANDED_BYTES` in a call that takes them as they are, and in
 * one that has integrations itself: an event has them as a map, which is written key by key, and the two are copied.
 */
export const SHARED_KEY_BYTES = 48;
export const MERGED_KEY_BYTES = 96;

/** Refused calls of one batch that are listed and kept; a batch with more is no batch of calls. */
export const MAX_REJECTED_CALLS = 2_500;

/** From the hand-over to the producer to the answer 503. */
export const ACKNOWLEDGE_TIMEOUT_MS = 5_000;

/** How long an unknown write key may wait for the table of sources to be read to its end. */
export const REFRESH_TIMEOUT_MS = 1_000;

/** Requests that may wait for that at once. Each holds its key and what of it the socket has buffered. */
export const MAX_WAITING_FOR_SOURCES = 512;

/**
 * What the work of requests may take of one round of the event loop, in ms. Between two rounds everything else is
 * heard, so this and one piece of work is what a call waits for at least while others crowd. A call passes through four
 * or five rounds, and what else a round holds, reading and answering, is as much as its work brings about.
 */
export const ROUND_MS = 3;

/**
 * The part of it that senders may have of whom no source is known, in ms. What they send can only be looked through for
 * a key.
 */
export const STRANGERS_ROUND_MS = 0.5;

/** What writing answers may take of one round, in ms: some twenty or thirty. */
export const ANSWERS_ROUND_MS = 1;

/**
 * What is read of bodies in one round before large ones wait for their turns, in bytes: about a millisecond. A body of
 * no more than a piece is small: Node reads as much at once.
 */
export const READ_ROUND_BYTES = 1024 * 1024;
export const READ_PIECE_BYTES = 64 * 1024;

/** Bodies that may wait for their turns to be read on; Node holds up to two pieces of each, which no budget counts. */
export const MAX_WAITING_BODIES = 256;

/**
 * Bodies of one address that may wait to be looked into for their keys before less of each is inflated: a client sends
 * one batch after the other, or some at once.
 */
export const CROWD = 32;

/**
 * What is inflated of a stranger's body then, to look for a key in it, in bytes. A client's usual batch of a hundred
 * calls is less.
 */
export const CROWD_INFLATED_BYTES = 256 * 1024;

/** Rounds without work between two with work, while connections come. */
export const CONNECTING_ROUNDS = 16;

/** The process is busy while the rounds in which it works take longer than this in the mean, in ms. */
export const BUSY_ROUND_MS = 15;

/**
 * Active requests that the sources share while the process is busy; and how long after its last request a source counts
 * among them, in ms.
 */
export const MAX_ACTIVE_REQUESTS = 128;
export const ACTIVE_MS = 1_000;

/** The work that may wait, in ms; the sources share it, and a source that is alone has all of it. */
export const MAX_WAITING_WORK_MS = 1_000;

/** What a request of a source is expected to cost before any was seen, in ms. */
export const USUAL_WORK_MS = 1;

/** Bodies of more than a call's bytes that are parsed and not done with: each may hold some tens of megabytes. */
export const MAX_BEGUN = 4;

/** Calls of a batch, and bytes of events made of them, after which others have their turn. */
export const STEP_CALLS = 64;
export const STEP_BYTES = 64 * 1024;

/** Refusals of one source in a second that are told at once; the others are told so much later, in ms. */
export const PROMPT_REFUSALS = 20;
export const REFUSAL_DELAY_MS = 1_000;

/** Refusals that are held for that at once. */
export const MAX_HELD_REFUSALS = 1_024;

/** Seconds that a refused caller is asked to stay away. */
export const RETRY_AFTER_S = 1;

/** All request headers together. */
export const MAX_HEADER_BYTES = 16 * 1024;

/** How slow a sender may be, in ms. */
export interface ReadTimeouts {
  readonly headersMs: number;
  /** The whole request, from its first byte to the body's last. */
  readonly requestMs: number;
  /** How often the two are looked at. */
  readonly checkMs: number;
}

export const READ_TIMEOUTS: ReadTimeouts = { headersMs: 10_000, requestMs: 30_000, checkMs: 1_000 };

/**
 * What a connection may pin; an answer comes within the 30 s of its request, the second for the table of sources and
 * the brokers' 5.
 */
export const SOCKET_LIMITS: SocketLimits = {
  ...DEFAULT_SOCKET_LIMITS,
  maxConnections: 20_000,
  idleMs: 30_000,
  exchangeMs: 45_000,
};

/** At a stop, requests that are not answered by then are cut off; a little over the acknowledgement's 5 s. */
export const STOP_TIMEOUT_MS = 6_000;
