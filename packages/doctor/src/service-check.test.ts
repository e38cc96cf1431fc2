import { expect, it } from "vitest";
import { type ServiceParts, serviceCheck, tableCheck } from "./service-check.ts";

const WELL: ServiceParts = {
  readiness: async () => ({ tables: true, brokers: true, router: true }),
  version: "2",
  versions: async () => new Map([["router", "2"]]),
};

it("names services that are not ready, and leaves control's own parts to other checks", async () => {
  const readiness = async () => ({ tables: "reading", brokers: "no broker answers", router: "does not answer" });
  expect(await serviceCheck(WELL).look()).toEqual([]);
  expect(await serviceCheck({ ...WELL, readiness }).look()).toMatchObject([
    { state: "wrong", what: "router is not ready: does not answer.", remedy: expect.stringMatching(/^Start router/) },
  ]);
  expect(await tableCheck(readiness).look()).toMatchObject([{ state: "wrong", what: "tables is not ready: reading." }]);
});

it("warns of a service of another release than control's", async () => {
  const versions = async () =>
    new Map([
      ["router", "2"],
      ["delivery", "1"],
    ]);
  expect(await serviceCheck({ ...WELL, versions }).look()).toMatchObject([
    { state: "warning", what: "delivery runs 1, and control 2.", remedy: expect.stringContaining("Upgrading") },
  ]);
});
