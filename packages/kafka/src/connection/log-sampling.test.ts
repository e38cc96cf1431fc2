import { expect, it } from "vitest";
import { isSampledFailure } from "./log-sampling.ts";

it("gives the first failure in a row a log line, then one at each doubling", () => {
  const failures = Array.from({ length: 100 }, (_, index) => index + 1);
  expect(failures.filter(isSampledFailure)).toEqual([1, 2, 4, 8, 16, 32, 64]);
});
