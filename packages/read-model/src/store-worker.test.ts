/** Rule: QO1 of call-order.ts. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { ProjectionEntry } from "./projection-entry.ts";
import { ofEach, type Taken } from "./store.ts";
import { openStore, type StoreClient } from "./store-client.ts";

const DETAIL = JSON.stringify({ sourceId: "src_1", type: "track", event: null, userIds: [], errors: [] });

/** One dead letter, the nth. */
function taken(n: number): Taken {
  const named = { timeMs: Date.now(), partition: 0, offset: n, place: 0, destinationId: "a", kind: "window_expired" };
  const entry: ProjectionEntry = { ...named, messageId: `m-${n}`, detail: DETAIL, users: "" };
  return { partition: 0, next: n + 1, passedTo: 0, entries: { dead_letters: [entry] } };
}

async function withStore(path: string | null, use: (store: StoreClient) => Promise<void>): Promise<void> {
  const bounds = ofEach(() => ({ maxEntries: 1000, keepMs: 1_000_000 }));
  const store = await openStore({ path, identity: "test", bounds, memoryBounds: bounds }, (reason) => {
    throw reason;
  });
  await use(store);
  await store.close();
}

it("QO1: what was asked for before the end is done before the end, and kept in the file", async () => {
  const folder = mkdtempSync(join(tmpdir(), "posthaste-store-"));
  const path = join(folder, "store.sqlite");
  await withStore(path, async (store) => {
    void Promise.all([0, 1, 2].map((n) => store.take("dead_letters", taken(n))));
  });
  await withStore(path, async (store) => {
    expect(store.start.trouble).toBe(null);
    expect(await store.heldDeadLetters()).toEqual([{ partition: 0, from: 0, next: 3 }]);
  });
  rmSync(folder, { recursive: true });
});
