/** Suppressed users who are in an audience: the emitter's identify of one is an event like any other. */
import { eventually } from "@posthaste/testkit/eventually";
import { expect, it } from "vitest";
import { readDeadLetters } from "./dead-letters.ts";
import { readTopic } from "./read-topic.ts";
import { bodyOf, createRoute } from "./route.ts";
import { installation, receiver, useInstallation } from "./use-installation.ts";

const ARRIVAL = { timeoutMs: 120_000, intervalMs: 200 };
/** So many that most of them wait, at the emitter's rate, when the suppression is answered. */
const MEMBERS = Array.from({ length: 500 }, (_, index) => `user-${index}`);

interface Unrouted {
  readonly sourceId: string;
  readonly events: readonly { readonly messageId: string; readonly type: string; readonly cause: string }[];
}

useInstallation();

it("get no identify after the answer: of a sync before it, of one that it falls into, of one after it", async () => {
  const { control, names, system } = installation;
  const route = await createRoute(installation, receiver, "/members");
  const create = async (name: string) => {
    const { id } = (await control.call("POST", "/v1/audiences", { name, sourceId: route.sourceId })) as { id: string };
    return `/v1/audiences/${id}`;
  };
  const [before, during, after] = [await create("Before"), await create("During"), await create("After")];
  await control.call("PUT", `${before}/members`, MEMBERS);
  const upload = openUpload(`${during}/members`);
  await upload.write('"gone-1"\n"here-1"\n');
  await eventually(
    async () => expect(await control.call("GET", during)).toMatchObject({ syncing: { received: 2 } }),
    ARRIVAL,
  );

  const gone = [...MEMBERS.filter((_, index) => index % 2 === 0), "gone-1", "gone-2"];
  await control.call("POST", "/v1/deletions", { userIds: gone, sourceIds: [route.sourceId], suppress: true });
  // A request that came before that to a receiver that stood still then is received before this is answered.
  await fetch(`${receiver.url}/marker`);
  const answeredMs = Date.now();
  await upload.write('"gone-2"\n"here-2"\n');
  expect(await upload.end()).toEqual({ added: 4, removed: 0, unchanged: 0 });
  await control.call("PATCH", `${after}/members`, { add: ["gone-1", "here-3"] });

  const requests = () => receiver.requestsTo(route.path);
  const usersReportedAt = (isMeant: (receivedAtMs: number) => boolean) =>
    new Set(
      requests()
        .filter((each) => isMeant(each.receivedAtMs) && bodyOf(each)["type"] === "identify")
        .map((each) => String(bodyOf(each)["userId"])),
    );
  const isGone = new Set(gone);
  const here = [...MEMBERS.filter((userId) => !isGone.has(userId)), "here-1", "here-2", "here-3"];
  await eventually(async () => {
    expect(await control.call("GET", before)).toMatchObject({ identifiesWaiting: 0 });
    expect([...usersReportedAt(() => true)]).toEqual(expect.arrayContaining(here));
  }, ARRIVAL);
  const late = [...usersReportedAt((receivedAtMs) => receivedAtMs >= answeredMs)];
  expect(late.filter((userId) => isGone.has(userId))).toEqual([]);
  // Each of their identifies was reported before the answer, or dropped for its content: none is missing, and none is
  // forgotten.
  const { brokers, schemaRegistry } = system.stack;
  const reportedBefore = requests().filter((each) => isGone.has(String(bodyOf(each)["userId"])));
  const reportedIdentifies = reportedBefore.filter((each) => bodyOf(each)["type"] === "identify");
  await eventually(async () => {
    const unrouted = { brokers, schemaRegistry, names, topic: names.unrouted, schema: "unrouted-events" as const };
    const ofSource = (record: { readonly sourceId: string }) => record.sourceId === route.sourceId;
    const events = (await readTopic<Unrouted>(unrouted)).filter(ofSource).flatMap((record) => record.events);
    const deadLetters = (await readDeadLetters({ brokers, schemaRegistry, names })).filter(ofSource);
    const dropped = [
      ...events.filter(({ type, cause }) => type === "identify" && cause === "suppressed"),
      ...deadLetters.filter(({ reason }) => reason === "suppressed"),
    ].map(({ messageId }) => messageId);
    expect(dropped.length).toBeGreaterThan(0);
    const ids = new Set([...dropped, ...reportedIdentifies.map(({ headers }) => headers["x-message-id"])]);
    expect(ids.size).toBe(gone.length + 1);
  }, ARRIVAL);
});

/** An upload whose lines come when the test says so. */
function openUpload(path: string) {
  const lines = new TransformStream<Uint8Array, Uint8Array>();
  const writer = lines.writable.getWriter();
  const answered = fetch(`${installation.system.controlUrl}${path}`, {
    method: "PUT",
    headers: { authorization: `Bearer ${installation.system.adminToken}`, "content-type": "application/x-ndjson" },
    body: lines.readable,
    duplex: "half",
  });
  return {
    write: (text: string) => writer.write(Buffer.from(text)),
    end: async () => {
      await writer.close();
      return (await answered).json();
    },
  };
}
