/** Control as two processes with a role each. */
import { createControlClient } from "@posthaste/local-stack/control-client";
import { findFreePorts } from "@posthaste/local-stack/ports";
import type { StackProcess } from "@posthaste/local-stack/stack-process";
import { eventually } from "@posthaste/testkit/eventually";
import { afterAll, beforeAll, expect, it } from "vitest";
import { sendBatch } from "./calls.ts";
import { createRoute } from "./route.ts";
import { installation, receiver, useInstallation, useServiceWith } from "./use-installation.ts";

const ARRIVAL = { timeoutMs: 60_000, intervalMs: 100 };

useInstallation();
useServiceWith("control", { POSTHASTE_CONTROL_ROLES: "api" });

let jobs: StackProcess;
let jobsPort: number;

beforeAll(async () => {
  const [adminPort = 0, controlPort = 0] = await findFreePorts(2);
  jobsPort = controlPort;
  const settings = { POSTHASTE_CONTROL_ROLES: "jobs" };
  jobs = installation.system.another("control", { adminPort, controlPort, settings });
});
afterAll(() => jobs.stop());

it("a replay that the API takes waits for a process with jobs, which serves no API itself", async () => {
  const { control, system } = installation;
  const { path, writeKey, destinationId } = await createRoute(installation, receiver, "/roles");
  receiver.script(path, { status: 400 });
  const call = { type: "track", event: "Ordered", userId: "user-1", messageId: "roles-1" };
  expect(await sendBatch(system.ingestUrl, writeKey, [call])).toBe(200);
  const { plan } = await eventually(async () => {
    const planned = { destinationId, dryRun: true };
    const found = (await control.call("POST", "/v1/replays", planned)) as { readonly plan: string };
    expect(found).toMatchObject({ matched: 1 });
    return found;
  }, ARRIVAL);
  receiver.script(path, { status: 200 });
  const { id } = (await control.call("POST", "/v1/replays", { plan })) as { readonly id: string };
  expect(await control.call("GET", `/v1/replays/${id}`)).toMatchObject({ state: "waiting", replayed: 0 });

  await jobs.start();
  await eventually(async () => {
    expect(await control.call("GET", `/v1/replays/${id}`)).toMatchObject({ state: "done", replayed: 1 });
  }, ARRIVAL);
  expect(receiver.requestsTo(path)).toHaveLength(2);
  // The process of the API is in no group of a job.
  const page = await (await fetch(system.metricsUrls.control)).text();
  expect(page).not.toMatch(/^posthaste_rebalances_total\{group="[^"]*(?:control\.replays|audience-emitter)"\} [1-9]/m);
  const ofJobs = createControlClient(`http://127.0.0.1:${jobsPort}`, system.adminToken);
  await expect(ofJobs.call("GET", "/v1/sources")).rejects.toThrow("404");
});
