/** Rules: AQ1 and AQ2 of audience-presence.ts. */
import { PosthasteError } from "@posthaste/core/errors";
import { SILENT_LOG } from "@posthaste/core/log";
import { afterEach, expect, it } from "vitest";
import { AudiencePresence } from "./audience-presence.ts";

const closing: AbortController[] = [];
afterEach(() => {
  for (const each of closing.splice(0)) each.abort();
});

/** Opens a table that holds `held`. A refresh of the table calls `refresh`, which may change `held`. */
function open(held: Map<string, { bornRevision: number; isRemoved: boolean }>, refresh: () => void = () => undefined) {
  const controller = new AbortController();
  closing.push(controller);
  let refreshes = 0;
  const audiences = {
    get: (id: string) => held.get(id),
    refresh: async () => {
      refreshes += 1;
      refresh();
    },
  };
  const presence = new AudiencePresence({ audiences, log: SILENT_LOG, signal: controller.signal });
  return { presence, refreshes: () => refreshes };
}

const record = (bornRevision: number) => ({ audienceId: "aud_1", bornRevision });

it("AQ1: takes the records of one that was made anew for those of another", () => {
  const { presence, refreshes } = open(new Map([["aud_1", { bornRevision: 7, isRemoved: false }]]));
  expect([presence.of(record(7)), presence.of(record(6))]).toEqual(["there", "gone"]);
  expect(refreshes()).toBe(0);
});

it("AQ1: takes one for gone whose removal is under way", () => {
  const { presence } = open(new Map([["aud_1", { bornRevision: 7, isRemoved: true }]]));
  expect(presence.of(record(7))).toBe("gone");
});

it("AQ2: reads the table before it takes one for gone that is not in it, or that is newer there", async () => {
  const held = new Map([["aud_1", { bornRevision: 6, isRemoved: false }]]);
  const { presence } = open(held, () => held.set("aud_1", { bornRevision: 7, isRemoved: false }));
  expect(presence.of(record(7))).toBe("unknown");
  await presence.learn(record(7));
  expect(presence.of(record(7))).toBe("there");
});

it("AQ2: knows one to be gone that is not in a table which was read to its end", async () => {
  const { presence, refreshes } = open(new Map());
  expect(presence.of(record(7))).toBe("unknown");
  await presence.learn(record(7));
  expect([presence.of(record(7)), presence.of(record(8)), refreshes()]).toEqual(["gone", "unknown", 1]);
});

it("AQ2: takes none for gone while the table cannot be read", async () => {
  let fails = 1;
  const { presence, refreshes } = open(new Map(), () => {
    fails -= 1;
    if (fails >= 0) throw new PosthasteError("deadline_exceeded", "the brokers", { retryable: true });
  });
  const learnt = presence.learn(record(7));
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(presence.of(record(7))).toBe("unknown");
  await learnt;
  expect([presence.of(record(7)), refreshes()]).toEqual(["gone", 2]);
});
