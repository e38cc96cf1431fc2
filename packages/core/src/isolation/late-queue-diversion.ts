/**
 * The deliveries that were taken out of a late URL's queue because they also owe a URL that is not late (rule UC2 of
 * url-choice.ts). In that queue such a delivery would keep its other URL waiting, and the deliveries behind it in its
 * lane.
 *
 * Owns: the deliveries that were taken out and not yet decided, and when the queues were last looked through.
 */
import Denque from "denque";
import type { AdmissionRequest, Permit, UrlLine } from "./permit.ts";
import { isLate } from "./url-choice.ts";

/** Ms from one look through the queues to the next, at the least. */
const DIVERT_EACH_MS = 20;

export class LateQueueDiversion<T extends AdmissionRequest> {
  readonly #diverted = new Denque<Permit<T>>();
  #lookedAtMs = Number.NEGATIVE_INFINITY;

  /** Whether it is time to look through the queues. */
  isDue(nowMs: number): boolean {
    return nowMs - this.#lookedAtMs >= DIVERT_EACH_MS;
  }

  /** Takes the deliveries out of the queues, for `next` to answer. Returns how many requests they will make. */
  divert(lines: readonly UrlLine<T>[], nowMs: number): number {
    this.#lookedAtMs = nowMs;
    const prompt = lines.filter((line) => !isLate(line, 0, nowMs));
    if (prompt.length === 0 || prompt.length === lines.length) return 0;
    let requests = 0;
    for (const line of lines) {
      if (line.queue.length === 0 || prompt.includes(line)) continue;
      for (const permit of line.queue.takeOut((waiter) => waiter.lines.some((each) => prompt.includes(each)))) {
        requests += permit.lines.length;
        this.#diverted.push(permit);
      }
    }
    return requests;
  }

  /** Takes out the next delivery to decide on. */
  next(): Permit<T> | undefined {
    return this.#diverted.shift();
  }

  /** Takes out all deliveries that are not yet decided. */
  drain(): readonly Permit<T>[] {
    const all = this.#diverted.toArray();
    this.#diverted.clear();
    return all;
  }
}
