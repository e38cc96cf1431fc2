import { describe, expect, it } from "vitest";
import { replicationAdvice } from "./replication-advice.ts";

describe("the advice on replication", () => {
  it("names the copies to give where several brokers keep one", () => {
    expect([replicationAdvice(2, 1)?.remedy, replicationAdvice(5, 1)?.remedy]).toEqual([
      expect.stringContaining("2 copies and min.insync.replicas 1:"),
      expect.stringContaining("3 copies and min.insync.replicas 2:"),
    ]);
  });

  it("says what a cluster of fewer than three brokers cannot promise", () => {
    expect([replicationAdvice(1, 1)?.what, replicationAdvice(2, 2)?.what]).toEqual([
      "The cluster has one broker: a lost disk takes every record with it.",
      "The cluster has two brokers: while one is down, each record has one copy.",
    ]);
  });

  it("is none where three brokers or more keep copies", () => {
    expect([replicationAdvice(3, 3), replicationAdvice(3, 2), replicationAdvice(7, 3)]).toEqual([null, null, null]);
  });
});
