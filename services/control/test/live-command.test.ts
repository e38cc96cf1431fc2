/** The command line's `--follow` over two real controls, whose connection is cut, and held up without a word. */
import { fileURLToPath } from "node:url";
import { attemptAt, createLogWriter } from "@posthaste/testbed/log-writer";
import { createTestTopics } from "@posthaste/testbed/test-topics";
import { openByteProxy } from "@posthaste/testkit/byte-proxy";
import { eventually } from "@posthaste/testkit/eventually";
import { runNode } from "@posthaste/testkit/run-node";
import { expect, it } from "vitest";
import { ADMIN_TOKEN, startTestControl, type TestControl } from "./control.ts";

const BINARY = fileURLToPath(new URL("../../../packages/cli/bin/posthaste.mjs", import.meta.url));

const streamsOf = async ({ registry }: TestControl) =>
  (await registry.getSingleMetric("posthaste_control_live_streams")?.get())?.values[0]?.value;

/** Of whole lines. */
const idsIn = (stdout: string): string[] =>
  stdout
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line).messageId);

it("deliveries --follow prints each attempt once through a cut, a silence and another control", async () => {
  const topics = await createTestTopics("control");
  const [one, two] = await Promise.all([startTestControl(topics), startTestControl(topics)]);
  const writer = await createLogWriter(topics);
  const proxy = await openByteProxy(one.url);
  const written: string[] = [];
  const write = async () => {
    const named = [0, 1, 2].map((n) => `message-${written.length + n}`);
    written.push(...named);
    await writer.attempts(
      named.map((messageId, n) => attemptAt(n, { messageId })),
      written.length % 2,
    );
  };
  for (const control of [one, two]) {
    await eventually(async () => expect((await control.call("GET", "/v1/deliveries")).body.complete).toBe(true));
  }

  const { code, stdout, stderr } = await runNode(
    [BINARY, "deliveries", "--follow", "--json", "--event", "Order Completed", "--url", proxy.url],
    {
      env: { PATH: process.env.PATH, POSTHASTE_ADMIN_TOKEN: ADMIN_TOKEN },
      during: async (pid, said) => {
        const has = (text: RegExp) => eventually(() => expect(said().stderr).toMatch(text));
        await eventually(async () => expect(await streamsOf(one)).toBe(1));
        await write();
        proxy.cut();
        await has(/^lost connection: .*\n/);
        await write();
        await has(/\nagain since .*\n/);
        await write();
        // Bytes pass no more; connections that are made from now on lead to the other control, and are not held up.
        proxy.hold();
        proxy.lead(two.url);
        await write();
        proxy.letNew();
        await eventually(async () => expect(await streamsOf(two)).toBe(1));
        await write();
        await eventually(() => expect(idsIn(said().stdout).length).toBeGreaterThanOrEqual(written.length));
        process.kill(pid, "SIGINT");
      },
    },
  );
  expect([code, idsIn(stdout).toSorted()]).toEqual([130, written.toSorted()]);
  // Where the machine stands still, control may have said nothing for so long before.
  expect(stderr).toMatch(
    /^(lost connection: .*\nagain since .*\n)+lost connection: control said nothing for 11 s\nagain since .*\n$/,
  );
  await proxy.close();
  await Promise.all([one.stop(), two.stop()]);
  await topics.remove();
});
