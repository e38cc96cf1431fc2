import { expect, it } from "vitest";
import { destinationHealthKey, processHealthKey, readHealthKey } from "./health-keys.ts";

it("a key of the health of destinations says whose it is", () => {
  expect(readHealthKey(destinationHealthKey("dst_1", "i1"))).toEqual({ destinationId: "dst_1", instance: "i1" });
  expect(readHealthKey(processHealthKey("i1"))).toEqual({ destinationId: null, instance: "i1" });
});
