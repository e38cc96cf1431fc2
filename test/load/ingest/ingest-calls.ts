/** The calls of the measurements of ingest. */

/** Calls in a batch. */
export const BATCH = 20;

/** A call as the Node client sends it, of about 1 KB. */
const CALL = {
  type: "track",
  messageId: "node-next-1763695457269-5e6f8a90-1b2c-4d3e-8f40-a1b2c3d4e5f6",
  userId: "user-1234",
  event: "Order Completed",
  timestamp: "2026-11-21T03:24:17.269Z",
  integrations: {},
  context: { library: { name: "@segment/analytics-node", version: "3.1.0" } },
  properties: { revenue: 39.95, currency: "EUR", products: [{ sku: "a-1", quantity: 2 }], note: "x".repeat(640) },
  _metadata: { nodeVersion: "24.21.0" },
};

/** The body of one call. */
export const SINGLE_BODY = JSON.stringify(CALL);

/** The body of `BATCH` calls. */
export const BATCH_BODY = JSON.stringify({
  batch: Array.from({ length: BATCH }, () => CALL),
  sentAt: "2026-11-21T03:24:17.300Z",
});
