/** A client of a real control that takes nothing. Rule: LV4 of live-stream.ts. */
import { connect } from "node:net";
import { attemptAt, createLogWriter } from "@posthaste/testbed/log-writer";
import { eventually } from "@posthaste/testkit/eventually";
import { expect, it } from "vitest";
import { ADMIN_TOKEN } from "./control.ts";
import { openLive } from "./live-client.ts";
import { control, topics, useControl } from "./use-control.ts";

useControl();

const openStreams = async () =>
  (await control.registry.getSingleMetric("posthaste_control_live_streams")?.get())?.values;

it("LV4: a client that takes nothing is cut off, and the others have everything meanwhile", async () => {
  // Its socket is never read from.
  const deaf = connect(Number(new URL(control.url).port), "127.0.0.1");
  deaf.pause();
  deaf.on("error", () => {});
  deaf.write(`GET /v1/live?topics=deliveries HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${ADMIN_TOKEN}\r\n\r\n`);
  await eventually(async () => expect(await openStreams()).toMatchObject([{ value: 1 }]));
  const client = await openLive(control.url, "topics=deliveries");
  const writer = await createLogWriter(topics);
  const answer = "x".repeat(1000);
  const urls = Array.from({ length: 5 }, (_, n) => ({
    ...{ url: `https://a.example/${n}`, status: 200, error: null, durationMs: 1, answer },
  }));
  for (let round = 0; round < 20; round += 1) {
    await writer.attempts(Array.from({ length: 100 }, (_, n) => attemptAt(n, { messageId: `${round}-${n}`, urls })));
  }
  await eventually(() => expect(client.rows("deliveries")).toHaveLength(2000));
  await eventually(async () => expect(await openStreams()).toMatchObject([{ value: 1 }]), { timeoutMs: 80_000 });
  expect(client.ended()).toBeNull();
  deaf.destroy();
  client.cut();
});
