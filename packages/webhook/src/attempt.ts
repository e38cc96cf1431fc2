/**
 * One attempt: its requests to all URLs at once, settled by the destination's rule.
 *
 * Owns its posts from `start` on. It is settled once, at the first moment at which its settlement can no longer change; it
 * is finished when the last post has ended. Posts are left to run in between: nothing waits for them.
 */
import type { SettleRule } from "@posthaste/core/destination";
import { type AttemptOutcome, DELIVERED, type RequestError, type Settlement, settle } from "@posthaste/core/outcome";
import { Deferred } from "./deferred.ts";
import type { AttemptHandle, AttemptReport, UrlResult } from "./report.ts";
import type { Post, PostListener } from "./send.ts";

export interface AttemptOptions {
  readonly rule: SettleRule;
  readonly startedAtMs: number;
  /** The text of an answer from the bytes that were kept. */
  readonly toAnswer: (chunks: readonly Uint8Array[]) => string | null;
  /** Told of each post that has its outcome, and of each that has ended. */
  readonly onOutcome: (post: Post) => void;
  readonly onEnd: () => void;
}

export class Attempt implements AttemptHandle, PostListener {
  readonly #options: AttemptOptions;
  readonly #settled = new Deferred<AttemptReport>();
  #finished: Deferred<AttemptReport> | null = null;
  #posts: readonly Post[] = [];
  #settlement: Settlement | null = null;
  #undecided = 0;
  #running = 0;

  constructor(options: AttemptOptions) {
    this.#options = options;
  }

  /** Starts every post. To be called once; posts may end before it returns. */
  start(posts: readonly Post[]): void {
    this.#posts = posts;
    this.#undecided = posts.length;
    this.#running = posts.length;
    // None of the URLs asked for exists any more: there is nothing left that could fail.
    if (posts.length === 0) this.#settle(DELIVERED);
    for (const post of posts) post.start();
  }

  get requests(): number {
    return this.#posts.length;
  }

  get settled(): Promise<AttemptReport> {
    return this.#settled.promise;
  }

  get finished(): Promise<AttemptReport> {
    this.#finished ??= new Deferred();
    this.#finishIfDone();
    return this.#finished.promise;
  }

  onOutcome(post: Post): void {
    this.#undecided -= 1;
    this.#options.onOutcome(post);
    if (this.#settlement !== null) return;
    if (this.#options.rule === "any" && post.outcome === "delivered") this.#settle(DELIVERED);
    else if (this.#undecided === 0) this.#settle(settle(this.#options.rule, this.#results(false)));
  }

  onEnd(): void {
    this.#running -= 1;
    this.#options.onEnd();
    this.#finishIfDone();
  }

  #settle(settlement: Settlement): void {
    this.#settlement = settlement;
    this.#settled.resolve(this.#report(settlement, false));
  }

  #finishIfDone(): void {
    if (this.#finished === null || this.#settlement === null || this.#running > 0) return;
    this.#finished.resolve(this.#report(this.#settlement, true));
  }

  #report(settlement: Settlement, withAnswers: boolean): AttemptReport {
    return { settlement, startedAtMs: this.#options.startedAtMs, urls: this.#results(withAnswers) };
  }

  #results(withAnswers: boolean): readonly UrlResult[] {
    const toAnswer = withAnswers ? this.#options.toAnswer : noAnswer;
    const results: UrlResult[] = [];
    for (const post of this.#posts) {
      if (post.outcome !== null) results.push(new PostResult(post, post.outcome, toAnswer));
    }
    return results;
  }
}

/** The answer is made when it is read: most attempts are logged without one, or not at all. */
class PostResult implements UrlResult {
  readonly url: string;
  readonly outcome: AttemptOutcome;
  readonly status: number | null;
  readonly error: RequestError | null;
  readonly durationMs: number;
  readonly notBeforeMs: number | null;
  readonly #kept: readonly Uint8Array[];
  readonly #toAnswer: AttemptOptions["toAnswer"];
  #answer: string | null | undefined;

  constructor(post: Post, outcome: AttemptOutcome, toAnswer: AttemptOptions["toAnswer"]) {
    this.url = post.target.url;
    this.outcome = outcome;
    this.status = post.status;
    this.error = post.error;
    this.durationMs = post.durationMs;
    this.notBeforeMs = post.notBeforeMs;
    this.#kept = post.kept;
    this.#toAnswer = toAnswer;
  }

  get answer(): string | null {
    if (this.#answer === undefined) this.#answer = this.#toAnswer(this.#kept);
    return this.#answer;
  }
}

function noAnswer(): null {
  return null;
}
