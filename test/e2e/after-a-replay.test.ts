/** The remaining work after dead letters were sent again, as control and the command line tell it. */
import { eventually } from "@posthaste/testkit/eventually";
import { expect, it } from "vitest";
import { sendBatch } from "./calls.ts";
import { posthaste } from "./posthaste.ts";
import { createRoute } from "./route.ts";
import { installation, receiver, useInstallation } from "./use-installation.ts";

const ARRIVAL = { timeoutMs: 60_000, intervalMs: 100 };
const DEAD_LETTERS = 20;

interface Health {
  readonly state: string;
  readonly needsSomebody: boolean;
  readonly deliversAgainSince: string | null;
  readonly deadLetters: number;
  readonly deliveredSince: number;
}
interface Status {
  readonly needing: number;
  readonly needsSomebody: readonly { readonly destinationId: string }[];
}

useInstallation();

it("what was mended, replayed and delivered needs nobody, and what died again needs somebody once", async () => {
  const { control, system } = installation;
  const { path, writeKey, destinationId } = await createRoute(installation, receiver, "/mended");
  const get = async <T>(what: string) => (await control.call("GET", what)) as T;
  const groups = async () => {
    const page = await get<{ data: readonly object[] }>(`/v1/dead-letters/groups?destinationId=${destinationId}`);
    return page.data;
  };
  const health = () => get<Health>(`/v1/health/destinations/${destinationId}`);
  const attention = async () => (await get<Status>("/v1/status")).needsSomebody.map((each) => each.destinationId);
  const openOnes = async () =>
    (await get<{ data: readonly object[] }>(`/v1/dead-letters?open=true&destinationId=${destinationId}`)).data;
  const replay = async (matched: number) => {
    const planned = { destinationId, dryRun: true };
    const { plan } = await eventually(async () => {
      const found = (await control.call("POST", "/v1/replays", planned)) as { plan: string };
      expect(found).toMatchObject({ matched });
      return found;
    }, ARRIVAL);
    await control.call("POST", "/v1/replays", { plan });
  };

  receiver.script(path, { status: 400 });
  const calls = Array.from({ length: DEAD_LETTERS }, (_, n) => ({
    ...{ type: "track", event: "Ordered", userId: `user-${n}`, messageId: `mended-${n}` },
  }));
  expect(await sendBatch(system.ingestUrl, writeKey, calls)).toBe(200);
  await eventually(async () => {
    expect(await groups()).toMatchObject([{ count: DEAD_LETTERS, open: DEAD_LETTERS, deliveredSince: 0 }]);
    expect(await health()).toMatchObject({ state: "failing", needsSomebody: true, deadLetters: DEAD_LETTERS });
    expect(await attention()).toEqual([destinationId]);
  }, ARRIVAL);

  // One is refused still.
  receiver.script(path, ({ headers }) => ({ status: headers["x-message-id"] === "mended-3" ? 400 : 200 }));
  await replay(DEAD_LETTERS);
  await eventually(async () => {
    expect(await groups()).toMatchObject([{ count: DEAD_LETTERS + 1, open: 1, deliveredSince: DEAD_LETTERS - 1 }]);
    expect(await health()).toMatchObject({ needsSomebody: true, deadLetters: 1, deliveredSince: DEAD_LETTERS - 1 });
    expect(await attention()).toEqual([destinationId]);
  }, ARRIVAL);
  expect(await openOnes()).toMatchObject([{ messageId: "mended-3", state: "open", replays: 1 }]);

  receiver.script(path, { status: 200 });
  await replay(1);
  await eventually(async () => {
    expect(await groups()).toMatchObject([{ count: DEAD_LETTERS + 1, open: 0, deliveredSince: DEAD_LETTERS + 1 }]);
    // Delivery's report on it comes by another topic, a moment later.
    expect((await health()).needsSomebody).toBe(false);
  }, ARRIVAL);
  const { state, deliversAgainSince, ...reported } = await health();
  expect(reported).toMatchObject({ needsSomebody: false, deadLetters: 0, deliveredSince: DEAD_LETTERS + 1 });
  // Most of five minutes' attempts failed, unless the machine stood still for as long.
  expect([state, deliversAgainSince === null]).toEqual(state === "healthy" ? ["healthy", true] : ["failing", false]);
  expect(await get<Status>("/v1/status")).toMatchObject({ needing: 0, needsSomebody: [] });
  expect(await openOnes()).toEqual([]);
  const status = await posthaste(installation, ["status"]);
  expect([status.code, status.stdout]).toEqual([0, expect.stringMatching(/^nothing needs you {3}/)]);
  const listed = await posthaste(installation, ["dead-letters", "groups"]);
  const row = `^0\\t${DEAD_LETTERS + 1}\\t${destinationId}\\t.*nothing is left to do: they were`;
  expect(listed.stdout).toMatch(new RegExp(row, "m"));

  const process = system.process("control");
  await process.stop();
  await process.start();
  await eventually(async () => {
    expect(await groups()).toMatchObject([{ count: DEAD_LETTERS + 1, open: 0, deliveredSince: DEAD_LETTERS + 1 }]);
  }, ARRIVAL);
});
