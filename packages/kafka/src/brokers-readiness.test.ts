import { describe, expect, it } from "vitest";
import { BrokersReadiness } from "./brokers-readiness.ts";

describe("the brokers' readiness", () => {
  it("is not there before a broker answered, and is at once when one does", () => {
    const answering: string[] = [];
    const readiness = new BrokersReadiness(() => answering);
    expect(readiness.state).toBe("no broker answers");
    answering.push("a:9092");
    expect(readiness.state).toBe(true);
  });

  it("outlives a moment without an answer, ends after some seconds, and comes back at once", () => {
    const answering = ["a:9092"];
    const readiness = new BrokersReadiness(() => answering);
    readiness.tick();
    answering.pop();
    for (let tick = 0; tick < 5; tick += 1) readiness.tick();
    expect(readiness.state).toBe(true);
    readiness.tick();
    expect(readiness.state).toBe("no broker answers");
    answering.push("b:9092");
    expect(readiness.state).toBe(true);
    readiness.tick();
    answering.pop();
    expect(readiness.state).toBe(true);
  });
});
