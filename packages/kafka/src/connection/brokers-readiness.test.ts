import { describe, expect, it, vi } from "vitest";
import { BrokersReadiness } from "./brokers-readiness.ts";

/** Brokers that answer as the list says, and refuse us as the map says. */
function createReadiness(answering: readonly string[], refusals: ReadonlyMap<string, string> = new Map()) {
  const onUnreachable = vi.fn();
  const readiness = new BrokersReadiness({ answering: () => answering, refusals: () => refusals, onUnreachable });
  const tick = (times: number) => {
    for (let each = 0; each < times; each += 1) readiness.tick();
  };
  return { readiness, tick, onUnreachable };
}

describe("the brokers' readiness", () => {
  it("is not there before a broker answered, and is at once when one does", () => {
    const answering: string[] = [];
    const { readiness } = createReadiness(answering);
    expect(readiness.state).toBe("no broker answers");
    answering.push("a:9092");
    expect(readiness.state).toBe(true);
  });

  it("says what to change where a broker refuses us and none answers", () => {
    const answering: string[] = [];
    const { readiness } = createReadiness(answering, new Map([["a:9092", "set KAFKA_TLS to true"]]));
    expect(readiness.state).toBe("a:9092: set KAFKA_TLS to true");
    answering.push("b:9092");
    expect(readiness.state).toBe(true);
  });

  it("outlives a moment without an answer, ends after some seconds, and comes back at once", () => {
    const answering = ["a:9092"];
    const { readiness, tick } = createReadiness(answering);
    tick(1);
    answering.pop();
    tick(5);
    expect(readiness.state).toBe(true);
    tick(1);
    expect(readiness.state).toBe("no broker answers");
    answering.push("b:9092");
    expect(readiness.state).toBe(true);
    tick(1);
    answering.pop();
    expect(readiness.state).toBe(true);
  });

  it("tells once that no broker answers, at the start and each time that none does any more", () => {
    const answering: string[] = [];
    const { tick, onUnreachable } = createReadiness(answering);
    tick(5);
    expect(onUnreachable).not.toHaveBeenCalled();
    tick(20);
    expect(onUnreachable).toHaveBeenCalledTimes(1);
    answering.push("a:9092");
    tick(1);
    answering.pop();
    tick(20);
    expect(onUnreachable).toHaveBeenCalledTimes(2);
  });
});
