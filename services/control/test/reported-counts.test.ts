/** Rule: CT1 of reported-counts.ts, over the real broker: another process reports the counts of one process. */

import { createLogWriter, deadLetterAt } from "@posthaste/testbed/log-writer";
import { createTestTopics, type TestTopics } from "@posthaste/testbed/test-topics";
import { eventually } from "@posthaste/testkit/eventually";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ADMIN_TOKEN, startTestControl, type TestControl } from "./control.ts";
import { silenceable } from "./silent-registry.ts";

let topics: TestTopics;
let first: TestControl;
let other: TestControl;

beforeAll(async () => {
  topics = await createTestTopics("control");
  // A count waits for the silent registry's answer: no count ends before its caller gives up.
  const registry = silenceable(topics.openCodec, "dead-letter");
  const start = () => startTestControl({ ...topics, openCodec: registry.openCodec });
  [first, other] = await Promise.all([start(), start()]);
  registry.silence();
  await (await createLogWriter(topics)).deadLetters([deadLetterAt(1), deadLetterAt(2)]);
});

afterAll(async () => {
  await Promise.all([first.stop(), other.stop()]);
  await topics.remove();
});

const counting = async (control: TestControl) => (await control.call("GET", "/v1/replays/counting")).body;

/** Asks for a count at the first, which nobody waits for when `signal` says so. */
function count(filter: object, signal: AbortSignal): Promise<unknown> {
  return fetch(`${first.url}/v1/replays`, {
    method: "POST",
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, "content-type": "application/json" },
    body: JSON.stringify({ dryRun: true, again: true, ...filter }),
    signal,
  }).catch(() => undefined);
}

it("CT1: a count that takes long is told by every process, until it is over", async () => {
  const givenUp = new AbortController();
  const asked = count({ type: "track" }, givenUp.signal);
  await eventually(async () => expect((await counting(first)).data).toMatchObject([{ filter: { type: "track" } }]));
  const behind = count({ type: "page" }, givenUp.signal);
  const reported = [
    { purpose: "replay", again: true, filter: { type: "track" }, before: 0, of: expect.any(Number) },
    { purpose: "replay", again: true, filter: { type: "page" }, before: 1, looked: 0, of: null },
  ];
  for (const control of [first, other]) {
    await eventually(async () => {
      expect(await counting(control)).toMatchObject({ data: reported, complete: true, asOf: expect.any(String) });
    });
  }
  givenUp.abort();
  await Promise.all([asked, behind]);
  for (const control of [first, other]) {
    await eventually(async () => expect((await counting(control)).data).toEqual([]));
  }
});
