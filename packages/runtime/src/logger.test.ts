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

it("masks what may hold a secret, should a caller pass it by mistake", () => {
  const [line] = linesOf((logger) => {
    logger.info({
      event: "x",
      sharedSecret: "s3cret",
      destination: { headers: { "X-Key": "s3cret" }, body: "s3cret" },
    });
  });
  expect(JSON.stringify(line)).not.toContain("s3cret");
});
