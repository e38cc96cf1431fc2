/** Control's answers about a status: all is well, and nothing is. At 10:42:30. */

export const HEALTHY_STATUS = {
  ready: true,
  services: [{ name: "router", ready: true, missing: null }],
  ...{ receivedPerSecond: 1204.2, deliveredPerSecond: 3.5, p50Ms: 4, p99Ms: 38.2, lag: { router: 0, delivery: 0 } },
  waiting: { total: 12_031, topics: [] },
  destinations: { open: 0, failing: 0, healthy: 41, off: 3 },
  ...{ needsSomebody: [], replays: [], schedule: { differ: false }, complete: true },
};
export const ACME = {
  ...{ state: "failing", name: "Acme CRM", destinationId: "dst_1", since: "2026-11-22T06:10:30.000Z" },
  reason: { status: 503, error: null, url: "https://acme.example/hook" },
  ...{ nextProbe: null, nextRetry: "2026-11-22T10:43:10.000Z", waiting: { total: 11_402 }, deadLetters: 12_345 },
  deliveredSince: 7,
  ...{ success: 0.2, p99Ms: 40 },
};
export const BILLING = {
  ...ACME,
  ...{ state: "open", name: "Billing\u001b[31m", since: "2026-11-22T10:41:30.000Z", deadLetters: null },
  ...{ reason: { status: null, error: "timeout", url: "https://b.example/" }, nextProbe: "2026-11-22T10:42:50.000Z" },
  waiting: { total: 629 },
};
/** Two destinations need somebody, of three; the router is not ready, a replay runs, and settings differ. */
export const WRONG_STATUS = {
  ...HEALTHY_STATUS,
  ready: false,
  services: [{ name: "router", ready: false, missing: "brokers: down" }],
  ...{ receivedPerSecond: null, lag: { router: 7, delivery: 1000 }, schedule: { differ: true } },
  destinations: { open: 1, failing: 2, healthy: 39, off: 3 },
  needsSomebody: [BILLING, ACME],
  replays: [{ id: "rpl_1", state: "running", matched: 12_345, replayed: 7812 }],
};
