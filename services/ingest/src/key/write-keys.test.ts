import type { Source } from "@posthaste/core/config/source";
import { describe, expect, it } from "vitest";
import { createWriteKeys } from "./write-keys.ts";

const source = (id: string, ...keys: readonly string[]): Source => ({
  id,
  revision: 1,
  name: id,
  kind: "web",
  enabled: true,
  writeKeys: keys.map((key) => ({ key, expiresAtMs: null })),
  createdAtMs: 0,
  updatedAtMs: 0,
});

describe("write keys", () => {
  it("all find their source, as it is now (WK2)", () => {
    const keys = createWriteKeys();
    keys.apply("a", source("a", "new", "old"));
    keys.apply("b", source("b", "other"));
    expect(["new", "old", "other", "none", ""].map((key) => keys.find(key, 0)?.id)).toEqual([
      "a",
      "a",
      "b",
      undefined,
      undefined,
    ]);
    const renamed = { ...source("a", "new"), name: "renamed" };
    keys.apply("a", renamed);
    expect(keys.find("new", 0)).toEqual(renamed);
    expect(keys.find("old", 0)).toBeUndefined();
    keys.apply("a", undefined);
    expect(keys.find("new", 0)).toBeUndefined();
    expect(keys.find("other", 0)?.id).toBe("b");
  });

  it("that were rotated out find it until their moment (WK2)", () => {
    const keys = createWriteKeys();
    keys.apply("a", { ...source("a"), writeKeys: [{ key: "old", expiresAtMs: 1_000 }] });
    expect(keys.find("old", 999)?.id).toBe("a");
    expect(keys.find("old", 1_000)).toBeUndefined();
  });

  it("may be any text, however long, without being found by a part of it (WK1)", () => {
    const keys = createWriteKeys();
    keys.apply("a", source("a", "schlüssel-🔑"));
    expect(keys.find("schlüssel-🔑", 0)?.id).toBe("a");
    expect(keys.find("schlüssel-", 0)).toBeUndefined();
    expect(keys.find("k".repeat(1_000_000), 0)).toBeUndefined();
  });

  it("that are longer than any of ours are not looked for", () => {
    const keys = createWriteKeys();
    keys.apply("a", source("a", "k".repeat(1_024), "l".repeat(1_025)));
    expect(keys.find("k".repeat(1_024), 0)?.id).toBe("a");
    expect(keys.find("l".repeat(1_025), 0)).toBeUndefined();
  });

  it("of a removed source leave another's alone that took one over", () => {
    const keys = createWriteKeys();
    keys.apply("a", source("a", "shared"));
    keys.apply("b", source("b", "shared"));
    keys.apply("a", undefined);
    expect(keys.find("shared", 0)?.id).toBe("b");
  });
});
