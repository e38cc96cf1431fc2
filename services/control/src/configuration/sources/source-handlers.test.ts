import type { ConfigStore } from "@posthaste/configuration/config-store";
import type { Author } from "@posthaste/core/access/author";
import type { Source } from "@posthaste/core/config/source";
import { describe, expect, it } from "vitest";
import { SourceHandlers } from "./source-handlers.ts";

const by: Author = {
  caller: { tokenId: null, name: "ADMIN_TOKEN", scopes: ["write"], sessionId: null, way: "api" },
  operation: "createSource",
  requestId: "req_1",
};

describe("a new source", () => {
  it("was changed last when it was made, though the clock goes on meanwhile", async () => {
    let nowMs = 0;
    const clock = { nowMs: () => ++nowMs, monotonicMs: () => 0 };
    const sources: Pick<ConfigStore<Source>, "change"> = {
      change: async (_, change) => change(undefined, 1) ?? undefined,
    };
    const handlers = new SourceHandlers({ sources: sources as ConfigStore<Source>, clock });
    const made = await handlers.create({ name: "Web shop", kind: "web", enabled: true }, by);
    expect(made.updatedAt).toBe(made.createdAt);
  });
});
