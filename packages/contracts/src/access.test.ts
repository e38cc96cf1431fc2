import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { accessTable, type Grant, KAFKA_USERS } from "./access.ts";
import { createTopicNames, topicCatalogue } from "./topics.ts";

const names = createTopicNames();
const table = accessTable(names);
const catalogue = topicCatalogue({ names, partitions: 1, retryDelaysMs: [10_000] }).map(({ name }) => name);

function covers({ name, pattern }: Grant, resource: string): boolean {
  return pattern === "literal" ? resource === name : resource.startsWith(name);
}

/** The users with this grant on a topic. */
function usersOf(topic: string, operation: "read" | "write"): readonly string[] {
  const fitting = table.filter((grant) => grant.resource === "topic" && covers(grant, topic));
  return fitting.filter(({ operations }) => operations.includes(operation)).map(({ user }) => user);
}

describe("the access table", () => {
  it("names no topic or group that there is not", () => {
    const groups = [
      names.routerGroup,
      names.deliveryGroup,
      names.retryGroup,
      names.audienceEmitterGroup,
      names.replaysGroup,
    ];
    const unknown = table.filter(
      (grant) => !(grant.resource === "topic" ? catalogue : groups).some((resource) => covers(grant, resource)),
    );
    expect(unknown).toEqual([]);
  });

  it("lets some user write every topic, and only the one that makes topics change them", () => {
    for (const topic of catalogue) expect(usersOf(topic, "write"), topic).not.toEqual([]);
    const more = table.filter(({ operations }) =>
      operations.some((each) => !["describe", "read", "write"].includes(each)),
    );
    // Control compares the topics' settings with the catalogue.
    expect(more.map(({ user }) => user)).toEqual(["posthaste-control", "posthaste-topics"]);
    expect(more[0]?.operations).toEqual(["describe-configs"]);
  });

  it("keeps the sealed secrets, the write keys and the events to those who use them", () => {
    expect(usersOf(names.destinationConfig, "write")).toEqual(["posthaste-control"]);
    expect(usersOf(names.sourceConfig, "write")).toEqual(["posthaste-control"]);
    expect(usersOf(names.sourceConfig, "read")).toEqual(["posthaste-ingest", "posthaste-control"]);
    expect(usersOf(names.events, "read")).toEqual(["posthaste-router", "posthaste-control"]);
    expect(usersOf(names.suppressions, "write")).toEqual(["posthaste-control"]);
    expect(usersOf(names.deletions, "read")).toEqual(["posthaste-control"]);
    expect(usersOf(names.deliveries, "read")).toEqual(["posthaste-delivery", "posthaste-control"]);
    expect(usersOf(names.replays, "write")).toEqual(["posthaste-control"]);
    expect(usersOf(names.audiences, "read")).toEqual(["posthaste-control"]);
    expect(usersOf(names.audiences, "write")).toEqual(["posthaste-control"]);
  });

  it("is the one in SECURITY.md", async () => {
    const text = await readFile(fileURLToPath(new URL("../../../SECURITY.md", import.meta.url)), "utf8");
    const shown = text.split("\n").filter((line) => KAFKA_USERS.some((user) => line.startsWith(`| \`${user}\` |`)));
    expect(shown).toEqual(
      table.map(({ user, resource, name, pattern, operations }) => {
        const what = pattern === "literal" ? `${resource} \`${name}\`` : `${resource}s from \`${name}\``;
        return `| \`${user}\` | ${what} | ${operations.join(", ")} |`;
      }),
    );
  });
});
