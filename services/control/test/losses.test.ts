/** Records that were deleted before delivery had finished them: found, shown, and accepted when that is asked for. */
import { retryTopicName } from "@posthaste/contracts/topics";
import { createTestTopics, type TestTopics } from "@posthaste/testbed/test-topics";
import { withAdmin } from "@posthaste/testkit/broker";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestControl, type TestControl } from "./control.ts";

const DELAY_MS = 10_000;
const PATH = "/v1/topics/accept-loss";

let topics: TestTopics;
let control: TestControl;
let topic = "";

beforeAll(async () => {
  topics = await createTestTopics("losses", { retryDelaysMs: [DELAY_MS] });
  topic = retryTopicName(topics.names, DELAY_MS);
  control = await startTestControl(topics);
});

afterAll(async () => {
  await control.stop();
  await topics.remove();
});

const doctor = async () => {
  const { checks } = (await control.call("GET", "/v1/doctor")).body;
  return checks.find(({ name }: { name: string }) => name === "losses");
};

it("is shown by the doctor, accepted only as it was shown, and stands in the audit", async () => {
  expect(await doctor()).toMatchObject({ state: "ok" });
  expect((await control.call("POST", PATH, {})).body).toEqual({ losses: [], accepted: false });
  expect((await control.call("POST", PATH, { losses: [] })).status).toBe(409);

  await topics.producer.send(Array.from({ length: 10 }, () => ({ topic, key: "k", value: Buffer.from("v") })));
  const partition = await withAdmin(async (admin) => {
    const found = (await admin.fetchTopicOffsets(topic)).find(({ high }) => high === "10")?.partition ?? -1;
    const groupId = topics.names.retryGroup;
    await admin.setOffsets({ groupId, topic, partitions: [{ partition: found, offset: "2" }] });
    await admin.deleteTopicRecords({ topic, partitions: [{ partition: found, offset: "7" }] });
    return found;
  });

  const loss = { topic, partition, from: 2, to: 7 };
  expect(await doctor()).toMatchObject({
    state: "wrong",
    findings: [{ what: expect.stringContaining(`${topic}/${partition}, offsets 2 to 6 (5 deliveries at the most)`) }],
  });
  expect((await control.call("POST", PATH, {})).body).toEqual({ losses: [{ ...loss, records: 5 }], accepted: false });
  expect((await control.call("POST", PATH, { losses: [{ ...loss, to: 6 }] })).status).toBe(409);
  expect(await doctor()).toMatchObject({ state: "wrong" });

  const accepted = await control.call("POST", PATH, { losses: [loss] });
  expect(accepted.body).toEqual({ losses: [{ ...loss, records: 5 }], accepted: true });
  expect(await doctor()).toMatchObject({ state: "ok", findings: [] });
  const { data } = (await control.call("GET", `/v1/audit?target=${topic}/${partition}`)).body;
  expect(data).toMatchObject([{ operation: "acceptLoss" }]);
  expect(data[0].changes).toContainEqual({ field: "records", from: null, to: "5" });
});
