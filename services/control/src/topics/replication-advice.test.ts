import { describe, expect, it } from "vitest";
import { replicationAdvice } from "./replication-advice.ts";

describe("the advice on replication", () => {
  it("names the settings where several brokers keep one copy", () => {
    const said = "a broker that is lost takes its records with it.";
    expect(replicationAdvice(2, 1)).toEqual({
      what: `POSTHASTE_REPLICATION_FACTOR is 1 on 2 brokers: ${said}`,
      remedy: "Set it to 2.",
    });
    expect(replicationAdvice(5, 1)).toEqual({
      what: `POSTHASTE_REPLICATION_FACTOR is 1 on 5 brokers: ${said}`,
      remedy: "Set it to 3 and POSTHASTE_MIN_INSYNC_REPLICAS to 2.",
    });
  });

  it("is none on one broker, and none where there are copies", () => {
    expect([
      replicationAdvice(1, 1),
      replicationAdvice(2, 2),
      replicationAdvice(3, 3),
      replicationAdvice(3, 2),
    ]).toEqual([null, null, null, null]);
  });
});
