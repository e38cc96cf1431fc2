import { fileURLToPath } from "node:url";
import { kafkaBrokers, schemaRegistryUrl } from "@posthaste/testkit/broker";
import { eventually } from "@posthaste/testkit/eventually";
import { runNode } from "@posthaste/testkit/run-node";
import { deleteTopics, uniqueName } from "@posthaste/testkit/topics";
import { afterAll, describe, expect, it } from "vitest";

const PROGRAM = fileURLToPath(new URL("../src/topics-main.ts", import.meta.url));
const prefix = uniqueName("topics-main");

afterAll(() => deleteTopics(prefix));

/** Runs the program over topics of this test's own. */
function run(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  return runNode([PROGRAM, ...args], {
    env: {
      PATH: process.env.PATH,
      KAFKA_BROKERS: kafkaBrokers().join(","),
      SCHEMA_REGISTRY_URL: schemaRegistryUrl(),
      POSTHASTE_TOPIC_PREFIX: prefix,
      POSTHASTE_PARTITIONS: "2",
      ...env,
    },
  });
}

describe("the program that makes the topics", () => {
  it("prints what lacks, with --dry-run alone, then makes it, and finds nothing the second time", async () => {
    const events = `+ ${prefix}.events: 2 partitions, delete\n`;
    const { stderr, ...first } = await run(["--dry-run"]);
    const advice = expect.stringMatching(/^topics: The cluster has one broker: .*\n$/);
    expect([first, stderr]).toEqual([{ code: 0, stdout: expect.stringContaining(events) }, advice]);
    // A broker that has not heard of a new topic's leader yet is asked again, and the log says so.
    expect(await run([])).toMatchObject(first);
    // With --raise-incarnation it gives the events topic a higher topic generation, and does no more.
    const raised = async () => {
      const { code, stdout } = await run(["--raise-incarnation"], { POSTHASTE_PARTITIONS: "3" });
      expect(code).toBe(0);
      const [, from, to] = /^~ \S+\.events: topic incarnation (\d+) -> (\d+)\n$/.exec(stdout) ?? [];
      expect(Number(to)).toBeGreaterThan(Number(from));
      return { from, to };
    };
    const { to } = await raised();
    expect((await raised()).from).toBe(to);
    expect(await run([])).toMatchObject({ code: 0, stdout: "" });
    const longer = await run(["--dry-run"], { POSTHASTE_AUDIT_KEEP: "500d" });
    expect(longer.stdout).toMatch(new RegExp(`^~ ${prefix}.audit: .*retention.*${500 * 24 * 60 * 60 * 1000}`));
    // Without the setting the topic keeps the retention that it has.
    await run([], { POSTHASTE_AUDIT_KEEP: "500d" });
    const kept = `= ${prefix}.audit: keeps its retention of 500 days, 425 days by default\n`;
    await eventually(async () => expect((await run(["--dry-run"])).stdout).toBe(kept));
  });

  it("names what it cannot use, and ends with 2", async () => {
    const unknown = await run(["--dryrun"]);
    expect([unknown.code, unknown.stderr]).toEqual([
      2,
      expect.stringContaining("the options are --dry-run and --raise-incarnation"),
    ]);
    const wrong = {
      KAFKA_BROKERS: "",
      POSTHASTE_AUDIT_KEEP: "soon",
      POSTHASTE_PARTITIONS: "257",
      POSTHASTE_EVENTS_KEEP: "6d",
    };
    const { code, stderr } = await run([], wrong);
    expect([code, stderr]).toEqual([2, expect.stringContaining("KAFKA_BROKERS is not set")]);
    expect(stderr).toContain("POSTHASTE_AUDIT_KEEP");
    expect(stderr).toContain("POSTHASTE_PARTITIONS");
    expect(stderr).toContain("POSTHASTE_EVENTS_KEEP: expected 7d at the least");
  });
});
