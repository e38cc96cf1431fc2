/**
 * Control with a stale or damaged membership file, and beside another control. Rules: AS5 of audience-sync.ts.
 */
import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { MembershipRecord } from "@posthaste/core/audience/membership";
import type { Event } from "@posthaste/core/event/event";
import { createTestTopics, type TestTopics } from "@posthaste/testbed/test-topics";
import { eventually } from "@posthaste/testkit/eventually";
import { remakeTopic } from "@posthaste/testkit/topics";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Answer, startTestControl, type TestControl } from "./control.ts";
import { bornRevisionOf, openUpload, sendLines } from "./uploads.ts";

const usersOf = (count: number) => Array.from({ length: count }, (_, index) => `user-${index}`);
const createSource = async (on: TestControl): Promise<string> =>
  (await on.call("POST", "/v1/sources", { name: "shop", kind: "server" })).body.id;

describe("the membership's file", () => {
  let topics: TestTopics;
  let folder: string;
  let controls: TestControl[];

  beforeAll(async () => {
    topics = await createTestTopics("membership");
  });
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "membership-"));
    controls = [];
  });
  afterEach(async () => {
    for (const control of controls) await control.stop();
    await rm(folder, { recursive: true, force: true });
  });
  afterAll(() => topics.remove());

  async function start(env: Readonly<Record<string, string>> = {}): Promise<TestControl> {
    const control = await startTestControl(topics, { env });
    controls.push(control);
    return control;
  }
  async function stop(control: TestControl): Promise<void> {
    controls = controls.filter((each) => each !== control);
    await control.stop();
  }

  // The first of the file: the old topic is to have fewer records than the new one.
  it("counts for nothing when the topic was made anew meanwhile, and has more records", async () => {
    const env = { POSTHASTE_CONTROL_DATA_DIR: folder };
    const first = await start(env);
    const sourceId = await createSource(first);
    const { id } = (await first.call("POST", "/v1/audiences", { name: "F", sourceId })).body;
    const path = `/v1/audiences/${id}/members`;
    await sendLines(
      first,
      path,
      usersOf(20).map((userId) => `old-${userId}`),
    );
    await stop(first);
    const topic = topics.names.audiences;
    await remakeTopic(topic, { partitions: 2 });
    const between = await start();
    expect((await sendLines(between, path, usersOf(200))).body.added).toBe(200);
    await stop(between);
    const second = await start(env);
    expect((await sendLines(second, path, usersOf(200))).body).toEqual({ added: 0, removed: 0, unchanged: 200 });
  });

  it("is made anew when it turns out to be damaged while it is used", async () => {
    const env = { POSTHASTE_CONTROL_DATA_DIR: folder };
    const first = await start(env);
    const sourceId = await createSource(first);
    const { id } = (await first.call("POST", "/v1/audiences", { name: "F", sourceId })).body;
    const path = `/v1/audiences/${id}/members`;
    expect((await sendLines(first, path, usersOf(2000))).status).toBe(200);
    await stop(first);
    const file = await open(join(folder, "audiences.sqlite"), "r+");
    const { size } = await file.stat();
    const PAGE = 4096;
    // An opening reads the first pages only.
    for (let at = PAGE * 3; at < size; at += PAGE) await file.write(Buffer.alloc(PAGE, 0xab), 0, PAGE, at);
    await file.close();
    const second = await start(env);
    await eventually(
      async () => {
        const { status, body } = await sendLines(second, path, usersOf(2000));
        expect([status, body]).toEqual([200, { added: 0, removed: 0, unchanged: 2000 }]);
      },
      { timeoutMs: 90_000, intervalMs: 500 },
    );
  });

  it("is not needed to make an audience, which is there when that is answered", async () => {
    const control = await start({ POSTHASTE_CONTROL_DATA_DIR: folder });
    const sourceId = await createSource(control);
    const answers = await Promise.all(
      usersOf(5).map((name) => control.call("POST", "/v1/audiences", { name, sourceId })),
    );
    expect(answers.map(({ status, body }) => [status, body.size])).toEqual(answers.map(() => [201, 0]));
  });
});

describe("two processes of control", () => {
  let topics: TestTopics;
  let control: TestControl;
  let another: TestControl;
  let sourceId: string;
  const events: Event[] = [];

  beforeAll(async () => {
    topics = await createTestTopics("membership");
    [control, another] = await Promise.all([startTestControl(topics), startTestControl(topics)]);
    await topics.follow<Event>(topics.names.events, (event) => events.push(event));
    sourceId = await createSource(control);
    await eventually(async () => expect((await another.call("GET", `/v1/sources/${sourceId}`)).status).toBe(200));
  });
  afterAll(async () => {
    await Promise.all([control.stop(), another.stop()]);
    await topics.remove();
  });

  /** Names of the audiences and computed traits with the trait, as each process lists them. */
  async function namesOf(trait: string): Promise<readonly unknown[]> {
    const asked = [control, another].map(async (each) => {
      const lists = ["/v1/audiences?limit=200", "/v1/computed-traits?limit=200"].map((path) => each.call("GET", path));
      const found = (await Promise.all(lists)).flatMap(({ body }) => body.data as { trait: string; name: string }[]);
      return found.filter((one) => one.trait === trait).map(({ name }) => name);
    });
    return Promise.all(asked);
  }

  it.each(["audience", "computed trait"])(
    "that make one trait at once agree on whose it is: an audience beside an %s",
    async (kind) => {
      // The trait of the other process may be in the way of the sync for longer than the sync waits.
      const untilSynced = async (put: () => Promise<Answer>): Promise<Answer> => {
        const answer = await put();
        const isLate = answer.status === 409 && / is being synced since /.test(answer.body.detail);
        return isLate ? untilSynced(put) : answer;
      };
      for (let round = 0; round < 5; round += 1) {
        const stem = `${kind} ${round}`;
        const [trait, names] = [stem.replaceAll(" ", "_"), [stem, stem.toUpperCase()]];
        const answers = await Promise.all([
          control.call("POST", "/v1/audiences", { name: names[0], sourceId }),
          kind === "audience"
            ? another.call("POST", "/v1/audiences", { name: names[1], sourceId })
            : untilSynced(() =>
                another.call("PUT", `/v1/computed-traits/${encodeURIComponent(names[1] ?? "")}`, {
                  ...{ sourceId, values: { ada: 12 } },
                }),
              ),
        ]);
        const winners = names.filter((_, index) => (answers[index]?.status ?? 500) < 300);
        expect([winners.length, answers.map(({ status }) => status)]).toEqual([1, expect.arrayContaining([409])]);
        // When one process puts a record back, the other reads the change a moment later.
        await eventually(async () => expect(await namesOf(trait)).toEqual([winners, winners]));
      }
    },
  );

  it("that change one audience at once change it one after the other", async () => {
    const { id } = (await control.call("POST", "/v1/audiences", { name: "Both", sourceId })).body;
    const path = `/v1/audiences/${id}/members`;
    await eventually(async () => expect((await another.call("GET", `/v1/audiences/${id}`)).status).toBe(200));
    // A change that waits for the other one longer than five seconds gets 409 and has no effect.
    const patch = async (by: TestControl, change: object): Promise<number> => {
      const { status } = await by.call("PATCH", path, change);
      return status === 409 ? patch(by, change) : status;
    };
    for (let round = 0; round < 6; round += 1) {
      const both = await Promise.all([
        patch(control, { add: [`a-${round}`], remove: [`b-${round - 1}`] }),
        patch(another, { add: [`b-${round}`] }),
      ]);
      expect(both).toEqual([200, 200]);
    }
    // The last of the others is removed by nobody.
    await eventually(async () => expect((await another.call("GET", `/v1/audiences/${id}`)).body.size).toBe(7));
  });

  it("AS5: repair an audience while another one, which wants repair too, is being synced", async () => {
    const codec = await topics.openCodec<MembershipRecord>("membership");
    const create = async (name: string): Promise<string> =>
      (await control.call("POST", "/v1/audiences", { name, sourceId })).body.id;
    const [first, second] = [await create("Held first"), await create("Held second")];
    for (const id of [first, second]) await sendLines(control, `/v1/audiences/${id}/members`, ["a"]);
    const upload = openUpload(control, `/v1/audiences/${first}/members`);
    upload.outgoing.write('"x"\n');
    // It would be given up after half a minute without a word.
    const goingOn = setInterval(() => upload.outgoing.write('"x"\n'), 1000);
    await eventually(async () =>
      expect((await another.call("GET", `/v1/audiences/${first}`)).body.syncing).toEqual(expect.anything()),
    );
    const late = async (audienceId: string, trait: string) => {
      const revision = await bornRevisionOf(topics, audienceId);
      const about = { audienceId, kind: "audience", sourceId, trait, revision, bornRevision: revision } as const;
      const said = { userId: "late", valueJson: "true", changedAtMs: Date.now() + 60_000 };
      return { topic: topics.names.audiences, key: `${audienceId}:late`, value: codec.encode({ ...about, ...said }) };
    };
    await topics.producer.send([await late(first, "held_first"), await late(second, "held_second")]);
    const reportedOf = (trait: string) =>
      events.filter(({ userId, traitsJson }) => userId === "late" && traitsJson?.includes(`"${trait}"`));
    const timeoutMs = 60_000;
    try {
      await eventually(() => expect(reportedOf("held_second").at(-1)?.traitsJson).toBe('{"held_second":false}'), {
        timeoutMs,
      });
      await eventually(() => expect(reportedOf("held_first")).toHaveLength(1));
    } finally {
      clearInterval(goingOn);
      upload.outgoing.destroy();
    }
    await eventually(() => expect(reportedOf("held_first").at(-1)?.traitsJson).toBe('{"held_first":false}'), {
      timeoutMs,
    });
  }, 180_000);
});
