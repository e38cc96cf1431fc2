/**
 * The order in which it is fair to do work that waits: start-time fair queuing, where the cost of work is the time that
 * it took.
 *
 * Owns the waiting work of each flow (a source, for example), and how far each flow has got: the sum of what its work
 * cost. Performs no work itself.
 * FQ1  The next work is of the flow that has got least far, of equal flows that whose oldest work has waited longest;
 *      within a flow it is the oldest.
 * FQ2  A flow that had nothing waiting begins where the work is that was taken last: it gains nothing by its pause, and
 *      what the others had meanwhile is no debt of theirs. So of two flows that both wait, neither gets more than the
 *      other by more than the dearest work of each.
 * FQ3  What waits is bounded in expected cost. Once that much waits, a flow gets no more in that has its fair share of
 *      it or more: a flow that has less is never refused, and a flow that is alone has all of it.
 */

export interface FairQueue<Work> {
  /** How much work waits. */
  readonly size: number;
  /** How many flows are remembered: those of which work waits, and some thousands of others. */
  readonly flows: number;
  /** Whether more of the flow is to be refused (FQ3). */
  isFull(flow: string): boolean;
  /** How much work of the flow waits. */
  waitingOf(flow: string): number;
  add(flow: string, work: Work): void;
  /** Takes the next out of those that may begin, which all may by default (FQ1); undefined when there is none. */
  take(mayBegin?: (work: Work) => boolean): Taken<Work> | undefined;
  /** Charges a flow for work that did not wait, since nothing did, and that is done. */
  chargeWithoutWaiting(flow: string, cost: number): void;
  /** Charges a flow for a part of its work. */
  charge(flow: string, cost: number): void;
  /** Says what the whole of one work cost: what waits of its flow is expected to cost about as much. */
  updateExpectedCost(flow: string, cost: number): void;
  /** Puts work back that was begun and is not done: it stays the oldest of its flow. */
  putBack(taken: Taken<Work>): void;
}

export interface Taken<Work> {
  readonly flow: string;
  readonly work: Work;
}

export interface FairQueueOptions {
  /** The expected cost of what waits, from which on it is shared out. */
  readonly maxWaitingCost: number;
  /** What work of a flow is expected to cost of which none is known. */
  readonly usualCost: number;
}

interface Flow<Work> {
  got: number;
  usualCost: number;
  waitingCost: number;
  readonly waiting: Waiting<Work>[];
}

interface Waiting<Work> {
  readonly work: Work;
  readonly expectedCost: number;
  readonly place: number;
}

/** What the newest work says of the next. */
const NEWEST = 1 / 8;
/** Flows that are remembered while nothing of them waits. */
const MAX_IDLE = 4_096;

/** For an owner that bounds what waits by itself. */
const NO_BOUND: FairQueueOptions = { maxWaitingCost: Number.POSITIVE_INFINITY, usualCost: 0 };

const anything = () => true;

/** The flow of a source's work; null is of strangers, who are one flow, and no source has its name. */
export function flowOf(sourceId: string | null): string {
  return sourceId ?? "";
}

export function createFairQueue<Work>(options: FairQueueOptions = NO_BOUND): FairQueue<Work> {
  return new StartTimeFairQueue<Work>(options);
}

class StartTimeFairQueue<Work> implements FairQueue<Work> {
  readonly #options: FairQueueOptions;
  readonly #flows = new Map<string, Flow<Work>>();
  /** The names of the flows that have waiting work. */
  readonly #waitingFlows = new Set<string>();
  #waitingCost = 0;
  #size = 0;
  #places = 0;
  /** How far the flow had got whose work was taken last. */
  #reached = 0;

  constructor(options: FairQueueOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#size;
  }

  get flows(): number {
    return this.#flows.size;
  }

  isFull(name: string): boolean {
    const { maxWaitingCost } = this.#options;
    if (this.#waitingCost < maxWaitingCost) return false;
    const sharers = this.#waitingFlows.size + (this.#waitingFlows.has(name) ? 0 : 1);
    return (this.#flows.get(name)?.waitingCost ?? 0) >= maxWaitingCost / sharers;
  }

  waitingOf(name: string): number {
    return this.#flows.get(name)?.waiting.length ?? 0;
  }

  add(name: string, work: Work): void {
    const flow = this.#flowOf(name);
    if (flow.waiting.length === 0) flow.got = Math.max(flow.got, this.#reached);
    flow.waiting.push({ work, expectedCost: flow.usualCost, place: this.#places++ });
    this.#count(name, flow, { works: 1, cost: flow.usualCost });
  }

  take(mayBegin: (work: Work) => boolean = anything): Taken<Work> | undefined {
    const next = this.#next(mayBegin);
    if (next === undefined) return undefined;
    const { name, flow, first } = next;
    flow.waiting.shift();
    this.#reached = Math.max(this.#reached, flow.got);
    this.#count(name, flow, { works: -1, cost: -first.expectedCost });
    return { flow: name, work: first.work };
  }

  chargeWithoutWaiting(name: string, cost: number): void {
    const flow = this.#flowOf(name);
    this.#reached = Math.max(this.#reached, flow.got);
    flow.got = this.#reached + cost;
    flow.usualCost += (cost - flow.usualCost) * NEWEST;
  }

  charge(name: string, cost: number): void {
    this.#flowOf(name).got += cost;
  }

  updateExpectedCost(name: string, cost: number): void {
    const flow = this.#flowOf(name);
    flow.usualCost += (cost - flow.usualCost) * NEWEST;
  }

  putBack({ flow: name, work }: Taken<Work>): void {
    const flow = this.#flowOf(name);
    flow.waiting.unshift({ work, expectedCost: flow.usualCost, place: this.#places++ });
    this.#count(name, flow, { works: 1, cost: flow.usualCost });
  }

  #flowOf(name: string): Flow<Work> {
    const known = this.#flows.get(name);
    if (known !== undefined) return known;
    this.#forgetIdle();
    const flow: Flow<Work> = {
      got: this.#reached,
      usualCost: this.#options.usualCost,
      waitingCost: 0,
      waiting: [],
    };
    this.#flows.set(name, flow);
    return flow;
  }

  #forgetIdle(): void {
    if (this.#flows.size <= MAX_IDLE + this.#waitingFlows.size) return;
    for (const name of this.#flows.keys()) if (!this.#waitingFlows.has(name)) this.#flows.delete(name);
  }

  /** FQ1. */
  #next(mayBegin: (work: Work) => boolean): { name: string; flow: Flow<Work>; first: Waiting<Work> } | undefined {
    let least: { name: string; flow: Flow<Work>; first: Waiting<Work> } | undefined;
    for (const name of this.#waitingFlows) {
      const flow = this.#flowOf(name);
      const [first] = flow.waiting;
      if (first === undefined || !mayBegin(first.work)) continue;
      const isBefore =
        least === undefined ||
        flow.got < least.flow.got ||
        (flow.got === least.flow.got && first.place < least.first.place);
      if (isBefore) least = { name, flow, first };
    }
    return least;
  }

  #count(name: string, flow: Flow<Work>, { works, cost }: { works: 1 | -1; cost: number }): void {
    this.#size += works;
    this.#waitingCost = this.#size === 0 ? 0 : this.#waitingCost + cost;
    flow.waitingCost = flow.waiting.length === 0 ? 0 : flow.waitingCost + cost;
    if (flow.waiting.length === 0) this.#waitingFlows.delete(name);
    else this.#waitingFlows.add(name);
  }
}
