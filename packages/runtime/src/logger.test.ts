import { expect, it } from "vitest";
import { createLogger } from "./logger.ts";

function linesOf(write: (logger: ReturnType<typeof createLogger>) => void): unknown[] {
  const lines: unknown[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
  write(createLogger({ service: "delivery", level: "info", destination }));
  return lines;
}

it("writes one JSON line with the service, the event and its fields, and nothing below the level", () => {
  const lines = linesOf((logger) => {
    logger.debug({ event: "too_small" });
    logger.info({ event: "partition_assigned", partition: 3 });
  });
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatchObject({ level: 30, service: "delivery", event: "partition_assigned", partition: 3 });
});

it("masks what may hold a secret at any depth, in errors and in the message, passed by mistake", () => {
  const cause = new Error("http://user:hunter2@registry:8081 refused");
  const lines = linesOf((logger) => {
    logger.info({
      event: "one",
      sharedSecret: "hunter2",
      destination: { urls: [{ headers: { "X-Key": "hunter2" } }] },
    });
    logger.warn({ event: "two" }, "asking http://user:hunter2@registry:8081 again");
    logger.error({ event: "three", err: new Error("no codec", { cause }) });
    logger.error({ event: "four", err: cause });
    logger.fatal({ event: "five", error: new AggregateError([cause], "all failed") }, "the service cannot go on");
  });
  expect(JSON.stringify(lines)).not.toContain("hunter2");
  expect(lines).toMatchObject([
    { sharedSecret: "***", destination: { urls: [{ headers: "***" }] } },
    { msg: "asking http://***@registry:8081 again" },
    { err: { message: "no codec", cause: { type: "Error", message: "http://***@registry:8081 refused" } } },
    { err: { message: "http://***@registry:8081 refused" }, msg: "http://***@registry:8081 refused" },
    { error: { message: "all failed", aggregateErrors: [{ message: "http://***@registry:8081 refused" }] } },
  ]);
});
