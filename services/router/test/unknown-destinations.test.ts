import { PosthasteError } from "@posthaste/core/errors";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createInstallation, type Installation } from "./installation.ts";

/** The table of destinations cannot be read to its end; every other one can. */
vi.mock("@posthaste/kafka/log/table", async (importOriginal) => {
  const original = await importOriginal<typeof import("@posthaste/kafka/log/table")>();
  const createTable: typeof original.createTable = async (connection, options) => {
    const table = await original.createTable(connection, options);
    if (!options.topic.endsWith("destination-config")) return table;
    return new Proxy(table, {
      get: (target, name) => (name === "caughtUp" ? neverCaughtUp : Reflect.get(target, name, target)),
    });
  };
  return { ...original, createTable };
});

async function neverCaughtUp(): Promise<void> {
  throw new PosthasteError("broker_unavailable", "the destinations cannot be read");
}

let installation: Installation;

beforeEach(async () => {
  installation = await createInstallation();
});

afterEach(() => installation.remove());

describe("the router", () => {
  it("takes no event before it knows the destinations: without them it would lead nowhere", async () => {
    await expect(installation.startRouter()).rejects.toThrow("the destinations cannot be read");
  });
});
