import { expect, it } from "vitest";
import { canaryIdsOf, isCanaryId } from "./canary-ids.ts";

it("the ids of a canary follow from its origin, and are no others", () => {
  const ids = canaryIdsOf("http://control:8090");
  expect(canaryIdsOf("http://control:8090")).toEqual(ids);
  const other = canaryIdsOf("http://control:8091");
  expect(new Set([...Object.values(ids), ...Object.values(other)]).size).toBe(4);
  expect(Object.values(ids).map(isCanaryId)).toEqual([true, true]);
  expect(["src_canary0123456789", "dst_0123456789abcdef", "", "canary"].map(isCanaryId)).toEqual(Array(4).fill(false));
});
