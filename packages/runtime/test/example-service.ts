/** A service that does nothing but print its events; run-service.test.ts runs it as a process. */
import { z } from "zod";
import { runService } from "../src/run-service.ts";

await runService({
  name: "example",
  version: "0.0.0",
  settings: z.object({ EXAMPLE_STOP: z.enum(["cleanly", "never"]), EXAMPLE_FAIL: z.string().optional() }),
  start: async ({ config, fail, logger, traces }) => {
    if (config.EXAMPLE_FAIL === "waits") {
      logger.warn({ event: "registry_unreachable", reason: "it answers with more than it may" }, "trying on");
      await new Promise((resolve) => setTimeout(resolve, 600_000));
    }
    traces?.start({ name: "example", kind: "server", attributes: {} }).end();
    process.stdout.write("started\n");
    if (config.EXAMPLE_FAIL === "late") setTimeout(() => fail(new Error("the group stalled")), 10);
    if (config.EXAMPLE_FAIL === "at start") throw new Error("no broker answers");
    const work = setInterval(() => {}, 1000);
    return {
      readiness: () => ({ work: true }),
      stop: async () => {
        process.stdout.write("stopping\n");
        if (config.EXAMPLE_STOP === "never") await new Promise(() => {});
        clearInterval(work);
        process.stdout.write("stopped\n");
      },
    };
  },
});
