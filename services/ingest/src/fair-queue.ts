/**
 * Work that waits, in the order in which it is fair to do it: start-time fair queuing, where the cost of work is the time it took.
 *
 * Owns what waits of each flow (a source, say), and how far each flow has got: the sum of what its work cost. Performs nothing.
 * Q1  The next is of the flow that has got least far, of equals the one that has waited longest; within a flow it is the oldest.
 * Q2  A flow that had nothing waiting begins where the work is that was taken last: it gains nothing by its pause, and what the others
 *     had meanwhile is no debt of theirs. So of two flows that both wait, neither gets more than the other by more than the
 *     dearest work of each.
 * Q3  What waits is bounded in expected cost. Once that much waits, a flow gets no more in that has its fair share of it or
 *     more: one that has less is never refused, and one that is alone has all of it.
 */

export interface FairQueue<Work> {
  /** How much work waits. */
  readonly size: number;
  /** Whether more of the flow is to be refused (Q3). */
  isFull(flow: string): boolean;
  add(flow: string, work: Work): void;
  /** Takes the next out of those that may begin (Q1); undefined when there is none. */
  take(mayBegin: (work: Work) => boolean): Taken<Work> | undefined;
  /** Work of the flow begins that did not wait, since nothing did. */
  pass(flow: string): void;
  /** What a part of the flow's work cost. */
  charge(flow: string, cost: number): void;
  /** What all of one work cost; what waits of its flow is expected to cost about as much. */
  learn(flow: string, cost: number): void;
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

export function createFairQueue<Work>({ maxWaitingCost, usualCost }: FairQueueOptions): FairQueue<Work> {
  const flows = new Map<string, Flow<Work>>();
  const busy = new Set<string>();
  let waitingCost = 0;
  let size = 0;
  let places = 0;
  /** How far the flow had got whose work was taken last. */
  let reached = 0;

  const flowOf = (name: string): Flow<Work> => {
    const known = flows.get(name);
    if (known !== undefined) return known;
    if (flows.size > MAX_IDLE + busy.size) for (const each of flows.keys()) if (!busy.has(each)) flows.delete(each);
    const flow: Flow<Work> = { got: reached, usualCost, waitingCost: 0, waiting: [] };
    flows.set(name, flow);
    return flow;
  };

  const change = (name: string, flow: Flow<Work>, works: 1 | -1, cost: number) => {
    size += works;
    waitingCost = size === 0 ? 0 : waitingCost + cost;
    flow.waitingCost = flow.waiting.length === 0 ? 0 : flow.waitingCost + cost;
    if (flow.waiting.length === 0) busy.delete(name);
    else busy.add(name);
  };

  return {
    get size() {
      return size;
    },
    isFull: (name) => {
      if (waitingCost < maxWaitingCost) return false;
      const waitingFlows = busy.size + (busy.has(name) ? 0 : 1);
      return (flows.get(name)?.waitingCost ?? 0) >= maxWaitingCost / waitingFlows;
    },
    add: (name, work) => {
      const flow = flowOf(name);
      if (flow.waiting.length === 0) flow.got = Math.max(flow.got, reached);
      flow.waiting.push({ work, expectedCost: flow.usualCost, place: places++ });
      change(name, flow, 1, flow.usualCost);
    },
    take: (mayBegin) => {
      let least: { name: string; flow: Flow<Work>; first: Waiting<Work> } | undefined;
      for (const name of busy) {
        const flow = flowOf(name);
        const [first] = flow.waiting;
        if (first === undefined || !mayBegin(first.work)) continue;
        const isBefore =
          least === undefined ||
          flow.got < least.flow.got ||
          (flow.got === least.flow.got && first.place < least.first.place);
        if (isBefore) least = { name, flow, first };
      }
      if (least === undefined) return undefined;
      const { name, flow, first } = least;
      flow.waiting.shift();
      reached = Math.max(reached, flow.got);
      change(name, flow, -1, -first.expectedCost);
      return { flow: name, work: first.work };
    },
    pass: (name) => {
      const flow = flowOf(name);
      reached = Math.max(reached, flow.got);
      flow.got = reached;
    },
    charge: (name, cost) => {
      flowOf(name).got += cost;
    },
    learn: (name, cost) => {
      const flow = flowOf(name);
      flow.usualCost += (cost - flow.usualCost) * NEWEST;
    },
    putBack: ({ flow: name, work }) => {
      const flow = flowOf(name);
      flow.waiting.unshift({ work, expectedCost: flow.usualCost, place: places++ });
      change(name, flow, 1, flow.usualCost);
    },
  };
}
