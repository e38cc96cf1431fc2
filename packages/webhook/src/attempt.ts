/**
 * An attempt: requests to all URLs at once, settled by the destination's rule.
 *
 * Owns its posts from `start` on. Posts go on when the attempt is settled, and nobody waits for them.
 *  - An attempt is settled once, at the first moment at which its settlement can no longer change. It is finished once,
 *    when it is settled and the last post has ended.
 *  AT2  The attempt tells its listener nothing while `start` runs: the listener may start the next attempt when it
 *       hears of this one, and a thousand attempts that fail as they start would overflow the stack.
 *  AT3  The attempt tells its listener the outcome of each post once, and after it the post's end once.
 */
import type { Destination } from "@posthaste/core/config/destination";
import {
  type AttemptOutcome,
  DELIVERED,
  type RequestError,
  type Settlement,
  settle,
} from "@posthaste/core/delivery/outcome";
import type { KeptBody } from "./kept-body.ts";
import type { AttemptListener, AttemptReport, UrlResult } from "./report.ts";
import type { Post, PostListener } from "./send.ts";

/** The parts of a sender that all of its attempts share. */
export interface AttemptContext {
  /** Makes an answer's text from the bytes that were kept of it. */
  readonly toAnswer: (destination: Destination, kept: KeptBody) => string | null;
  /** Called for each post that has its outcome. */
  readonly onOutcome: (post: Post) => void;
  /** Called for each post that has ended. */
  readonly onEnd: (post: Post) => void;
}

export class Attempt implements PostListener {
  readonly #context: AttemptContext;
  readonly #destination: Destination;
  readonly #startedAtMs: number;
  readonly #listener: AttemptListener;
  #posts: readonly Post[] = [];
  #report: AttemptReport | null = null;
  #undecided = 0;
  #running = 0;
  #isStarting = true;

  constructor(context: AttemptContext, destination: Destination, startedAtMs: number, listener: AttemptListener) {
    this.#context = context;
    this.#destination = destination;
    this.#startedAtMs = startedAtMs;
    this.#listener = listener;
  }

  /** Starts every post. The caller calls this once; posts may end before it returns. */
  start(posts: readonly Post[]): void {
    this.#posts = posts;
    this.#undecided = posts.length;
    this.#running = posts.length;
    // The destination no longer has any of the URLs, so nothing is left that could fail.
    if (posts.length === 0) this.#settle(DELIVERED);
    for (const post of posts) post.start();
    const hasNews = this.#undecided < posts.length || posts.length === 0;
    if (hasNews) queueMicrotask(() => this.#tellAfterStart());
    else this.#isStarting = false;
  }

  onOutcome(post: Post): void {
    this.#undecided -= 1;
    this.#context.onOutcome(post);
    if (!this.#isStarting) this.#tellOutcome(post);
    if (this.#report !== null) return;
    const rule = this.#destination.settle;
    if (rule === "any" && post.outcome === "delivered") this.#settle(DELIVERED);
    else if (this.#undecided === 0) this.#settle(settle(rule, this.#results()));
  }

  onEnd(post: Post): void {
    this.#running -= 1;
    this.#context.onEnd(post);
    if (this.#isStarting) return;
    this.#listener.onEnd(this.#posts.indexOf(post), post);
    this.#finishIfDone();
  }

  #settle(settlement: Settlement): void {
    this.#report = { settlement, startedAtMs: this.#startedAtMs, urls: this.#results() };
    if (!this.#isStarting) this.#listener.onSettled(this.#report);
  }

  #tellOutcome(post: Post): void {
    if (post.outcome !== null) this.#listener.onOutcome(this.#posts.indexOf(post), post.outcome, post);
  }

  /** Makes the calls to the listener that `start` held back, in their order (AT2). */
  #tellAfterStart(): void {
    this.#isStarting = false;
    for (const post of this.#posts) this.#tellOutcome(post);
    if (this.#report !== null) this.#listener.onSettled(this.#report);
    for (const [index, post] of this.#posts.entries()) if (post.hasEnded) this.#listener.onEnd(index, post);
    this.#finishIfDone();
  }

  #finishIfDone(): void {
    const report = this.#report;
    if (report === null || this.#running > 0) return;
    const isFinal = report.urls.length === this.#posts.length && !this.#posts.some(({ isOverBudget }) => isOverBudget);
    this.#listener.onFinished(isFinal ? report : { ...report, urls: this.#results() });
  }

  #results(): readonly UrlResult[] {
    const results: UrlResult[] = [];
    for (const post of this.#posts) {
      if (post.outcome !== null) {
        results.push(new PostResult(post, post.outcome, this.#context.toAnswer, this.#destination));
      }
    }
    return results;
  }
}

/** The answer's text is made when somebody reads it: most attempts are logged without it, or not at all. */
class PostResult implements UrlResult {
  readonly url: string;
  readonly outcome: AttemptOutcome;
  readonly status: number | null;
  readonly error: RequestError | null;
  readonly durationMs: number;
  readonly notBeforeMs: number | null;
  readonly #post: Post;
  readonly #toAnswer: AttemptContext["toAnswer"];
  readonly #destination: Destination;
  #answer: string | null | undefined;

  constructor(post: Post, outcome: AttemptOutcome, toAnswer: AttemptContext["toAnswer"], destination: Destination) {
    this.url = post.target.url;
    this.outcome = outcome;
    this.status = post.status;
    this.error = post.error;
    this.durationMs = post.durationMs;
    this.notBeforeMs = post.notBeforeMs;
    this.#post = post;
    this.#toAnswer = toAnswer;
    this.#destination = destination;
  }

  get answer(): string | null {
    if (!this.#post.hasEnded) return null;
    if (this.#answer === undefined) this.#answer = this.#toAnswer(this.#destination, this.#post.kept);
    return this.#answer;
  }
}
