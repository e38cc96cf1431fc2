import { type Log, SILENT_LOG } from "@posthaste/core/log";
import { withAdmin } from "@posthaste/testkit/broker";
import { eventually } from "@posthaste/testkit/eventually";
import { type Receiver, startReceiver } from "@posthaste/testkit/receiver";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createInstallation, type Installation } from "./installation.ts";

/** In-flight requests are waited for, and a member is kept, for as long as a busy machine stands still. */
const PATIENT = {
  ...{ stopDrainMs: 30_000, rebalanceDrainMs: 30_000, lastCommitMs: 20_000, commitDeadlineMs: 20_000 },
  sessionTimeoutMs: 60_000,
};
/** Longer than a session, which ends by itself where the brokers stand as its member takes leave. */
const JOINED = { timeoutMs: 100_000 };
const JOINS_AGAIN = "The group is rebalancing, re-joining";

let installation: Installation;
let receiver: Receiver;

beforeEach(async () => {
  receiver = await startReceiver();
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
  const joinsAgain = new Set<unknown>();
  const log: Log = {
    ...SILENT_LOG,
    debug: ({ groupId }, message) => void (message === JOINS_AGAIN && joinsAgain.add(groupId)),
  };
  await send(0, 400);
  const first = await installation.startDelivery({ timing: PATIENT, log });
  const inFlight = () => first.metric("posthaste_requests_in_flight");
  // Its in-flight requests at the arrival of another member are answered after the first one heard of that.
  let release = holdAnswers();
  await eventually(async () => expect(await inFlight()).toBeGreaterThan(1));
  const coming = installation.startDelivery({ timing: PATIENT });
  await eventually(() => expect(joinsAgain).toContain(installation.names.deliveryGroup), JOINED);
  release();
  const second = await coming;
  release = holdAnswers();
  await send(400, 800);
  await eventually(async () => expect(await inFlight()).toBeGreaterThan(1));
  const going = first.stop();
  expect(await countMembers()).toBe(2);
  release();
  await going;
  await send(800, 1200);
  const ids = () => receiver.requests.map(({ headers }) => headers["x-message-id"]);
  await eventually(() => expect(new Set(ids()).size).toBe(1200), JOINED);
  await second.stop();
  expect(ids()).toHaveLength(1200);
  expect(installation.deadLetters).toEqual([]);
  expect([...first.failures, ...second.failures]).toEqual([]);
}, 360_000);

/** Of the group that reads the deliveries. */
async function countMembers(): Promise<number> {
  const { groups } = await withAdmin((admin) => admin.describeGroups([installation.names.deliveryGroup]));
  return groups[0]?.members.length ?? 0;
}

/** The receiver answers nothing from now on, until the function is called. */
function holdAnswers(): () => void {
  const held = Promise.withResolvers<void>();
  receiver.script("/hook", { until: held.promise });
  return held.resolve;
}

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
