/**
 * The fair order of work that waits: start-time fair queuing, where the cost of work is the time that it took.
 *
 * Owns: the waiting work of each flow (a source, for example), and each flow's progress, which is the sum of its work's
 * costs. It performs no work itself.
 * FQ1  The next work belongs to the flow that has got least far; among equal flows, to the one whose oldest work has
 *      waited longest. Within a flow the oldest work is next.
 * FQ2  A flow that had no waiting work begins at the place of the work that was last taken: it gains nothing by its
 *      pause, and owes nothing for the turns of others meanwhile. So of two flows that both wait, neither gets more
 *      than the other by more than the costliest work of each.
 * FQ3  The expected cost of waiting work is bounded. Once that much waits, a flow that has its fair share of it may add
 *      no more: a flow that has less is never refused, and a flow that is alone may have all of it.
 */

export interface FairQueue<Work> {
  /** How much work waits. */
  readonly size: number;
  /** How many flows are remembered: those with waiting work, and some thousands of others. */
  readonly flows: number;
  /** Whether the flow may add no more (FQ3). */
  isFull(flow: string): boolean;
  /** How much work of the flow waits. */
  waitingOf(flow: string): number;
  add(flow: string, work: Work): void;
  /** Takes out the next work, among the work that `mayBegin` allows (FQ1); undefined when there is none. */
  take(mayBegin?: (work: Work) => boolean): Taken<Work> | undefined;
  /** Charges a flow for work that was done at once, while nothing waited. */
  chargeWithoutWaiting(flow: string, cost: number): void;
  /** Charges a flow for a part of its work. */
  charge(flow: string, cost: number): void;
  /** Notes the full cost of one piece of work; waiting work of its flow is expected to cost about as much. */
  updateExpectedCost(flow: string, cost: number): void;
  /** Puts back work that was begun and is not done; it stays the oldest of its flow. */
  putBack(taken: Taken<Work>): void;
}

export interface Taken<Work> {
  readonly flow: string;
  readonly work: Work;
}

export interface FairQueueOptions {
  /** The expected cost of waiting work from which on it is shared out. */
  readonly maxWaitingCost: number;
  /** The expected cost of a flow's work before any was done. */
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

/** The weight of the newest work in the expected cost. */
const NEWEST = 1 / 8;
/** The most flows without waiting work that are remembered. */
const MAX_IDLE = 4_096;

/** The options for an owner that bounds waiting work itself. */
const NO_BOUND: FairQueueOptions = { maxWaitingCost: Number.POSITIVE_INFINITY, usualCost: 0 };

const anything = () => true;

/** The flow of a source's work. Strangers (null) are one flow, whose name no source has. */
export function flowOf(sourceId: string | null): string {
  return sourceId ?? "";
}

export function createFairQueue<Work>(options: FairQueueOptions = NO_BOUND): FairQueue<Work> {
  return new StartTimeFairQueue<Work>(options);
}

class StartTimeFairQueue<Work> implements FairQueue<Work> {
  readonly #options: FairQueueOptions;
  readonly #flows = new Map<string, Flow<Work>>();
  /** The names of the flows with waiting work. */
  readonly #waitingFlows = new Set<string>();
  #waitingCost = 0;
  #size = 0;
  #places = 0;
  /** How far the flow had got whose work was last taken. */
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
