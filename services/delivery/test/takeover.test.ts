import { eventually } from "@posthaste/testkit/eventually";
import { type Receiver, startReceiver } from "@posthaste/testkit/receiver";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createInstallation, type Installation } from "./installation.ts";

/** What is in flight is waited for, and a member is kept, for as long as a busy machine stands still. */
const PATIENT = { stopDrainMs: 20_000, rebalanceDrainMs: 20_000, sessionTimeoutMs: 60_000 };

let installation: Installation;
let receiver: Receiver;

beforeEach(async () => {
  receiver = await startReceiver({ script: { delayMs: 5 } });
  installation = await createInstallation([500, 1000]);
});

afterEach(async () => {
  await installation.remove();
  await receiver.close();
});

it("C4, D3: processes that come and go in a run lose nothing, and repeat nothing when they end cleanly", async () => {
  const url = { url: `${receiver.url}/hook`, headers: {} };
  const configOffset = await installation.configure("dst", { urls: [url] });
  const send = (from: number, to: number) =>
    installation.send(
      Array.from({ length: to - from }, (_, index) => ({
        messageId: `m-${from + index}`,
        destinationId: "dst",
        configOffset,
        user: `u${index % 20}`,
      })),
    );
  await send(0, 400);
  const first = await installation.startDelivery({ timing: PATIENT });
  await eventually(() => expect(receiver.requests.length).toBeGreaterThan(20));
  const second = await installation.startDelivery({ timing: PATIENT });
  await send(400, 800);
  await first.stop();
  await send(800, 1200);
  const ids = () => receiver.requests.map(({ headers }) => headers["x-message-id"]);
  await eventually(() => expect(new Set(ids()).size).toBe(1200), { timeoutMs: 40_000 });
  await second.stop();
  expect(ids()).toHaveLength(1200);
  expect(installation.deadLetters).toEqual([]);
  expect([...first.failures, ...second.failures]).toEqual([]);
});

it("W4: what waits in the topic of an old schedule is read all the same", async () => {
  receiver.script("/hook", [{ status: 503 }, { status: 200 }]);
  const url = { url: `${receiver.url}/hook`, headers: {} };
  const configOffset = await installation.configure("dst", { urls: [url] });
  const before = await installation.startDelivery({ schedule: { delaysMs: [1000], windowMs: 60_000 } });
  await installation.send([{ messageId: "m", destinationId: "dst", configOffset }]);
  await eventually(() => expect(installation.waiting).toHaveLength(1));
  await before.stop();
  await installation.startDelivery({ schedule: { delaysMs: [500], windowMs: 60_000 } });
  await eventually(() => expect(receiver.requestsTo("/hook")).toHaveLength(2));
  expect(receiver.requestsTo("/hook").map(({ headers }) => headers["x-attempt"])).toEqual(["1", "2"]);
});
