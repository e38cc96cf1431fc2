/**
 * The rate of identifies, and the fate of identifies that still wait when an audience is removed. Rules: AE3 and AE4
 * of audience-emitter.ts, AL3 of audience-lease.ts, AS6 of audience-sync.ts.
 */
import { type AudienceRecord, createAudienceCodec } from "@posthaste/contracts/audience-codec";
import { REVISION_HEADER } from "@posthaste/contracts/headers";
import type { Audience } from "@posthaste/core/audience/audience";
import type { Event } from "@posthaste/core/event/event";
import { topicOffsets } from "@posthaste/kafka/connection/topic-offsets";
import { createTestTopics, type TestTopics } from "@posthaste/testbed/test-topics";
import { eventually } from "@posthaste/testkit/eventually";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestControl, type TestControl } from "./control.ts";
import { openUpload, sendLines } from "./uploads.ts";

/** Slow, so that something waits. */
const IDENTIFIES_PER_SECOND = 20;
const USERS = Array.from({ length: 400 }, (_, index) => `user-${index}`);
const ARRIVAL = { timeoutMs: 60_000 };

let topics: TestTopics;
let control: TestControl;
let sourceId: string;
const events: Event[] = [];
const writtenAtMs = new Map<string, number>();

beforeAll(async () => {
  topics = await createTestTopics("removal");
  control = await startTestControl(topics, { env: { POSTHASTE_AUDIENCE_RATE: String(IDENTIFIES_PER_SECOND) } });
  await topics.follow<Event>(topics.names.events, (event, { timestampMs }) => {
    events.push(event);
    writtenAtMs.set(event.messageId, timestampMs);
  });
  sourceId = (await control.call("POST", "/v1/sources", { name: "shop", kind: "server" })).body.id;
});

afterAll(async () => {
  await control.stop();
  await topics.remove();
});

const create = async (name: string): Promise<string> =>
  (await control.call("POST", "/v1/audiences", { name, sourceId })).body.id;
const reported = (trait: string): readonly Event[] =>
  events.filter(({ traitsJson }) => Object.hasOwn(JSON.parse(traitsJson ?? "{}"), trait));
const waiting = async (id: string): Promise<number> =>
  (await control.call("GET", `/v1/audiences/${id}`)).body.identifiesWaiting;

it("AE3: is told no faster than it is allowed to", async () => {
  const id = await create("Slow");
  await sendLines(control, `/v1/audiences/${id}/members`, USERS.slice(0, 40));
  await eventually(() => expect(reported("slow")).toHaveLength(40), ARRIVAL);
  // Forty at twenty a second, less the burst. The time of writing counts, since this reader may be late.
  const sentAt = reported("slow").map(({ messageId }) => writtenAtMs.get(messageId) ?? 0);
  expect(Math.max(...sentAt) - Math.min(...sentAt)).toBeGreaterThan(1500);
});

it("AE4: what waits of an audience that was removed is told to nobody, and keeps no other waiting", async () => {
  const id = await create("Gone");
  expect((await sendLines(control, `/v1/audiences/${id}/members`, USERS)).body.added).toBe(USERS.length);
  expect(await waiting(id)).toBeGreaterThan(0);
  await eventually(() => expect(reported("gone").length).toBeGreaterThan(5));
  expect((await control.call("DELETE", `/v1/audiences/${id}`)).status).toBe(204);
  // The count of records in the topic: this reader may have read fewer.
  const offsets = await topicOffsets(topics.connection, topics.names.events);
  const reportedBefore = offsets.reduce((sum, { end }) => sum + end, 0);
  // Under the id of before.
  expect(await create("gone")).toBe(id);
  await sendLines(control, `/v1/audiences/${id}/members`, ["new"]);
  await eventually(() => expect(reported("gone").map(({ userId }) => userId)).toContain("new"), ARRIVAL);
  await eventually(async () => expect(await waiting(id)).toBe(0), ARRIVAL);
  // They are read here in their own time.
  await eventually(async () => {
    const before = reported("gone").filter(({ userId }) => userId !== "new").length;
    // Identifies were in flight when the audience was removed.
    expect(before).toBeLessThan(reportedBefore + IDENTIFIES_PER_SECOND);
    const counted = await control.registry.getSingleMetricAsString("posthaste_audience_records_dropped_total");
    expect(counted).toContain(`posthaste_audience_records_dropped_total ${USERS.length - before}`);
  });
});

it("AS6: a removal whose process was killed in the middle is carried to its end, and nothing of it is seen before", async () => {
  const id = await create("Half gone");
  await sendLines(control, `/v1/audiences/${id}/members`, ["ada", "bob"]);
  // As the killed process left the record: its next step was to forget the users.
  const codec = createAudienceCodec(await topics.openCodec<AudienceRecord>("audience"));
  const revision = Date.now() * 1024 + 1_000_000;
  const left: Audience = {
    ...{ id, revision, kind: "audience", name: "Half gone", trait: "half_gone", sourceId, bornRevision: 1 },
    ...{ lease: { holder: "sync_killed", sinceMs: 0, untilMs: 0 }, lastSync: null, isRemoved: true },
    ...{ createdAtMs: 0, updatedAtMs: 0 },
  };
  const headers = { [REVISION_HEADER]: String(revision) };
  const record = { topic: topics.names.audienceConfig, key: id, value: codec.encode(left) };
  await topics.producer.send([{ ...record, headers }]);
  await eventually(async () => expect((await control.call("GET", `/v1/audiences/${id}`)).status).toBe(404), ARRIVAL);
  await eventually(async () => {
    expect((await control.call("POST", "/v1/audiences", { name: "half gone", sourceId })).status).toBe(201);
  }, ARRIVAL);
  await eventually(async () => expect((await control.call("GET", `/v1/audiences/${id}`)).body.size).toBe(0), ARRIVAL);
});

it("AL3: a sync that waits is not made to what is made anew under the id, which may be a trait", async () => {
  const id = await create("Waited for");
  const path = `/v1/audiences/${id}/members`;
  const first = openUpload(control, path);
  first.outgoing.write('"a"\n');
  await eventually(async () =>
    expect((await control.call("GET", `/v1/audiences/${id}`)).body.syncing).toMatchObject({ received: 1 }),
  );
  // As another control writes it: the audience is gone, and a computed trait has its id.
  const codec = createAudienceCodec(await topics.openCodec<AudienceRecord>("audience"));
  const revision = Date.now() * 1024 + 1_000_000;
  const made: Audience = {
    ...{ id, revision, kind: "computed_trait", name: "waited_for", trait: "waited_for", sourceId },
    ...{
      bornRevision: revision,
      lease: null,
      lastSync: null,
      isRemoved: false,
      createdAtMs: Date.now(),
      updatedAtMs: Date.now(),
    },
  };
  const record = { topic: topics.names.audienceConfig, key: id, value: codec.encode(made) };
  const second = sendLines(control, path, ["b"]);
  // Later requests are answered after control has accepted the second upload, which then waits.
  for (let n = 0; n < 3; n += 1) await control.call("GET", `/v1/audiences/${id}`);
  await topics.producer.send([{ ...record, headers: { [REVISION_HEADER]: String(revision) } }]);
  const { status, body } = await second;
  expect([status, body.detail]).toEqual([404, `${id} was removed meanwhile, and what has its name is another`]);
  first.outgoing.destroy();
  await first.answered.catch(() => undefined);
  const { body: traits } = await control.call("GET", "/v1/computed-traits");
  expect(traits.data).toMatchObject([{ name: "waited_for", size: 0, lastSync: null }]);
  expect(reported("waited_for")).toEqual([]);
});
