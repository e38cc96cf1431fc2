/** Rule: AC2 of accept.ts. */
import type { Source } from "@posthaste/core/config/source";
import { beforeEach, describe, expect, it } from "vitest";
import type { Amount } from "../fairness/rate-limit.ts";
import type { WorkSender } from "../fairness/work-queue.ts";
import { type Admission, createAdmission } from "./admission.ts";

const MOST = 1_000;
const source = { id: "s" } as Source;
const other = { id: "o" } as Source;

let producer: { pendingBytes: number; stalledMs: (topic: string) => number };
let waitMs: number;
let full: ReadonlySet<string>;
let sent: [string, Amount][];
let admission: Admission;
beforeEach(() => {
  producer = { pendingBytes: 0, stalledMs: () => 0 };
  waitMs = 0;
  full = new Set();
  sent = [];
  admission = createAdmission({
    rateLimit: { waitMs: () => waitMs, take: (id, amount) => void sent.push([id, amount]), size: 0 },
    work: { isFull: ({ source: id, address }: WorkSender) => full.has(id ?? address) },
    activeRequests: { isFull: (id) => full.has(id) },
    producer,
    names: { events: "events" },
    maxPendingBytes: MOST,
    acknowledgeTimeoutMs: 5_000,
  });
});

const codeOf = (refusal: { readonly code: string } | null) => refusal?.code ?? null;

describe("AC2: a request is refused", () => {
  it("of anybody while more bytes than may wait for the brokers", () => {
    producer.pendingBytes = MOST;
    expect(admission.ofAnybody()).toBeNull();
    producer.pendingBytes = MOST + 1;
    expect([codeOf(admission.ofAnybody()), codeOf(admission.ofSource(source))]).toEqual(["unavailable", "unavailable"]);
  });

  it("of anybody while no partition of the events took anything for longer than an answer may take", () => {
    producer.stalledMs = (topic) => (topic === "events" ? 5_000 : 0);
    expect(admission.ofAnybody()).toBeNull();
    producer.stalledMs = (topic) => (topic === "events" ? 5_001 : 0);
    expect(codeOf(admission.ofAnybody())).toBe("unavailable");
  });

  it("of a source of which more waits for the brokers than is left for all others, and of no other", () => {
    producer.pendingBytes = 600;
    admission.countPending(source, 400);
    expect(admission.ofSource(source)).toBeNull();
    admission.countPending(source, 1);
    expect([codeOf(admission.ofSource(source)), admission.ofSource(other)]).toEqual(["unavailable", null]);
    admission.countPending(source, -401);
    expect(admission.ofSource(source)).toBeNull();
    // Returned amounts are not held against it: the same again is as far from the bound as at first.
    admission.countPending(source, 400);
    expect(admission.ofSource(source)).toBeNull();
    admission.countPending(source, 1);
    expect(codeOf(admission.ofSource(source))).toBe("unavailable");
  });

  it("of a source that sent more than it may, for whole seconds", () => {
    waitMs = 1_001;
    expect(admission.ofSource(source)).toMatchObject({ code: "rate_limited", retryAfterS: 2 });
    expect(admission.ofAnybody()).toBeNull();
    waitMs = 0;
    expect(admission.ofSource(source)).toBeNull();
  });

  it("of a sender that has its share of what may wait, or of what is active", () => {
    full = new Set(["s"]);
    const senders = [source, other].map(({ id }) => ({ source: id, address: "" }));
    expect(senders.map((sender) => codeOf(admission.ofWork(sender)))).toEqual(["rate_limited", null]);
    expect([source, other].map((each) => codeOf(admission.ofActiveRequest(each)))).toEqual(["rate_limited", null]);
  });
});

it("counts what a source sent against what it may send", () => {
  admission.countSent(source, { calls: 2, bytes: 30 });
  expect(sent).toEqual([["s", { calls: 2, bytes: 30 }]]);
});
