import { Socket } from "node:net";
import type { Source } from "@posthaste/core/config/source";
import { describe, expect, it } from "vitest";
import { ConnectionKeys } from "./connection-keys.ts";

const HEADER = "Basic a2V5Og==";

function sourceWith(...expiresAtMs: readonly (number | null)[]): Source {
  return {
    id: "src",
    revision: 1,
    name: "Source",
    kind: "server",
    enabled: true,
    writeKeys: expiresAtMs.map((atMs, index) => ({ key: `key-${index}`, expiresAtMs: atMs })),
    createdAtMs: 0,
    updatedAtMs: 0,
  };
}

describe("what a connection's header named (CK1)", () => {
  it("is found for the same header of the same connection", () => {
    const keys = new ConnectionKeys({ version: 1 });
    const connection = new Socket();
    const named = { source: sourceWith(null) };
    keys.remember(connection, HEADER, named, 0);
    expect(keys.find(connection, HEADER, 1_000_000)).toBe(named);
    expect(keys.find(connection, "Basic b3RoZXI6", 0)).toBeUndefined();
    expect(keys.find(new Socket(), HEADER, 0)).toBeUndefined();
  });

  it("is looked for again after any change of the table (CK2)", () => {
    const table = { version: 1 };
    const keys = new ConnectionKeys(table);
    const connection = new Socket();
    keys.remember(connection, HEADER, { source: sourceWith(null) }, 0);
    table.version++;
    expect(keys.find(connection, HEADER, 0)).toBeUndefined();
  });

  it("is looked for again from the moment at which the first of the source's keys expires (CK2)", () => {
    const keys = new ConnectionKeys({ version: 1 });
    const connection = new Socket();
    const named = { source: sourceWith(null, 2_000, 1_000, 10) };
    keys.remember(connection, HEADER, named, 500);
    expect(keys.find(connection, HEADER, 999)).toBe(named);
    expect(keys.find(connection, HEADER, 1_000)).toBeUndefined();
  });
});
