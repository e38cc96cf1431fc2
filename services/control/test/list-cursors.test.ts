/** Every list of the API, with its own cursor and with the cursors of all other lists. */
import { encodeUnreadable, type Unreadable } from "@posthaste/contracts/unreadable-headers";
import { attemptAt, createLogWriter, deadLetterAt } from "@posthaste/testbed/log-writer";
import { eventually } from "@posthaste/testkit/eventually";
import { beforeAll, expect, it } from "vitest";
import type { Answer } from "./control.ts";
import { describedOperations } from "./described-operations.ts";
import { control, topics, useControl } from "./use-control.ts";

useControl();

const UNREADABLE: Omit<Unreadable, "offset"> = {
  topic: "t",
  partition: 0,
  reason: "not_framed",
  error: "It has no schema.",
  atMs: 5,
  by: "router",
  isValueOmitted: false,
};
const MESSAGE =
  "expected the nextCursor of this list's page before; without a cursor the list begins at its first page";

/** By the list's path: the cursor of its second page. */
const cursors = new Map<string, string>();

beforeAll(async () => {
  const lists = (await describedOperations(control))
    .filter(({ parameters }) => parameters?.some(({ name }) => name === "cursor"))
    // Its list goes on where an event has over a hundred destinations.
    .filter(({ path }) => path !== "/v1/events/{messageId}")
    .map(({ path }) => path.replace("{id}", "del-1"));
  await makeTwoOfEach();
  for (const path of lists) {
    // A list shows a topic's record a moment after the record was written.
    await eventually(async () => {
      const { body } = await control.call("GET", `${path}?limit=1`);
      expect([path, body.nextCursor]).toEqual([path, expect.any(String)]);
      cursors.set(path, body.nextCursor);
    });
  }
});

async function make(path: string, body: object, method = "POST"): Promise<Answer["body"]> {
  const answer = await control.call(method, path, body);
  expect([path, answer.status < 300, answer.text]).toEqual([path, true, answer.text]);
  return answer.body;
}

async function makeTwoOfEach(): Promise<void> {
  const log = await createLogWriter(topics);
  const ids: string[] = [];
  for (const name of ["one", "two"]) {
    const { id: sourceId } = await make("/v1/sources", { name, kind: "web" });
    const settings = { urls: [{ url: "http://127.0.0.1:9/hook" }] };
    const { id } = await make("/v1/destinations", { type: "Webhooks", name, sourceIds: [sourceId], settings });
    ids.push(id);
    await make("/v1/tokens", { name, scopes: ["read"] });
    await make("/v1/audiences", { name, sourceId });
    await make(`/v1/computed-traits/trait_${name}`, { sourceId, values: { ada: 1 } }, "PUT");
  }
  await make("/v1/deletions", { id: "del-1", userIds: ["ada", "bob"], suppress: false });
  await make("/v1/deletions", { id: "del-2", userIds: ["ada", "bob"], suppress: false });
  const at = ids.map((destinationId, index) => [index + 1, { destinationId, messageId: `m-${index}` }] as const);
  await log.attempts(at.map(([n, of]) => attemptAt(n, of)));
  await log.deadLetters(at.map(([n, of]) => deadLetterAt(n, of)));
  await topics.producer.send(
    at.map(([offset]) => ({
      ...{ topic: topics.names.unreadable, key: null, value: Buffer.from("x"), partition: 0 },
      headers: encodeUnreadable({ ...UNREADABLE, offset }),
    })),
  );
  for (const destinationId of ids) {
    await eventually(async () => {
      const { body } = await control.call("GET", `/v1/dead-letters?destinationId=${destinationId}`);
      expect(body.data).toHaveLength(1);
    });
    await make("/v1/replays", { destinationId, again: true });
  }
}

const ask = (path: string, cursor: string) =>
  control.call("GET", `${path}?limit=1&cursor=${encodeURIComponent(cursor)}`);

it("every list goes on from its own cursor", async () => {
  expect(cursors.size).toBeGreaterThan(15);
  for (const [path, cursor] of cursors) {
    // A list is complete once control has read all newer records, the deliveries of replays too.
    await eventually(async () => {
      const { status, body } = await ask(path, cursor);
      expect([path, status, body]).toEqual([path, 200, expect.objectContaining({ complete: true })]);
      expect([path, body.data.length, Date.parse(body.asOf) > 0]).toEqual([path, 1, true]);
    });
  }
});

it("no list takes the cursor of another one, and each says what it expects", async () => {
  for (const path of cursors.keys()) {
    const others = [...cursors].filter(([of]) => of !== path);
    const answers = await Promise.all(others.map(async ([of, cursor]) => [of, await ask(path, cursor)] as const));
    for (const [of, { status, body }] of answers) {
      expect([path, of, status, body.errors]).toEqual([path, of, 400, [{ path: "cursor", message: MESSAGE }]]);
      expect(body.detail).toBe(`cursor: ${MESSAGE}`);
    }
  }
});

it.each([
  ["without the list's name", (cursor: string) => cursor.slice(cursor.indexOf(".") + 1)],
  ["that names the list alone", (cursor: string) => cursor.slice(0, cursor.indexOf(".") + 1)],
  ["that goes on with something else", (cursor: string) => `${cursor.slice(0, cursor.indexOf(".") + 1)}!`],
  ["that is empty", () => ""],
])("no list takes a cursor %s", async (_, from) => {
  for (const [path, cursor] of cursors) {
    const { status, body } = await ask(path, from(cursor));
    expect([path, status, body.errors]).toEqual([path, 400, [{ path: "cursor", message: MESSAGE }]]);
  }
});

it("a deletion request's notifications do not go on from those of another request", async () => {
  const { body } = await control.call("GET", "/v1/deletions/del-2/notifications?limit=1");
  expect((await ask("/v1/deletions/del-2/notifications", body.nextCursor)).status).toBe(200);
  expect((await ask("/v1/deletions/del-1/notifications", body.nextCursor)).status).toBe(400);
});
