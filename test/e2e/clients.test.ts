/** The client libraries, each as its users run it, against a whole installation: receivers get the calls sent. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { Analytics, type AnalyticsErrorCode } from "@posthaste/client";
import { hasGoodSignature } from "@posthaste/testkit/signature";
import { describe, expect, it } from "vitest";
import { bodyOf, createRoute, firstAttempts, messageIdsOf, type Route } from "./route.ts";
import { undisturbed } from "./undisturbed.ts";
import { installation, receiver, useInstallation } from "./use-installation.ts";

const TRACKS = 1000;
const TIMESTAMP = "2026-05-04T03:02:01.123Z";
const goClient = fileURLToPath(new URL("../../packages/client-go", import.meta.url));
const hasGo = spawnSync("go", ["version"]).status === 0;

useInstallation();

/** Makes one call of each kind and `tracks` more with a library, and returns the arguments of its error callback. */
type MakeCalls = (writeKey: string, tracks: number) => Promise<readonly string[]>;

const callInTypeScript: MakeCalls = async (writeKey, tracks) => {
  const errors: AnalyticsErrorCode[] = [];
  const endpoint = installation.system.ingestUrl;
  const client = new Analytics({ writeKey, endpoint, onError: ({ code }) => errors.push(code) });
  const common = { userId: "ada", timestamp: TIMESTAMP };
  client.identify({ ...common, traits: { email: "ada@example.com", logins: 5 } });
  client.track({ ...common, event: "Order Completed", properties: { revenue: 39.95 } });
  client.page({ ...common, name: "Academy", properties: { path: "/academy/" } });
  client.group({ ...common, groupId: "initech", traits: { "total billed": 830 } });
  client.alias({ ...common, previousId: "anonymous-1" });
  for (let n = 0; n < tracks; n += 1) client.track({ userId: `user-${n % 50}`, event: "E", properties: { n } });
  await client.close();
  return errors;
};

const callInGo: MakeCalls = async (writeKey, tracks) => {
  const parameters = [installation.system.ingestUrl, writeKey, String(tracks)];
  const child = spawn("go", ["run", "./examples/calls", ...parameters], {
    cwd: goClient,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [[code], output] = await Promise.all([once(child, "exit"), text(child.stdout)]);
  expect(code).toBe(0);
  return output.split("\n").flatMap((line) => line.match(/calls: (\w+)/)?.[1] ?? []);
};

const libraries: readonly { name: string; makeCalls: MakeCalls; isHere: boolean }[] = [
  { name: "@posthaste/client", makeCalls: callInTypeScript, isHere: true },
  { name: "client-go", makeCalls: callInGo, isHere: hasGo },
];

/** The five bodies that both libraries' calls must come to. */
const EXPECTED = [
  { version: 1, type: "identify", userId: "ada", traits: { email: "ada@example.com", logins: 5 } },
  { version: 1, type: "track", userId: "ada", event: "Order Completed", properties: { revenue: 39.95 } },
  { version: 1, type: "page", userId: "ada", properties: { path: "/academy/" } },
  { version: 1, type: "group", userId: "ada", groupId: "initech", traits: { "total billed": 830 } },
  { version: 1, type: "alias", "Previous ID": "anonymous-1", "User ID": "ada" },
];

const requestsOf = (route: Route) => firstAttempts(receiver.requestsTo(route.path));
const needsGo = hasGo ? "" : " (skipped: go was not found on the path)";

for (const { name, makeCalls, isHere } of libraries) {
  describe.skipIf(!isHere)(`${name}${isHere ? "" : needsGo}`, () => {
    it("has each of its calls delivered once, with a good signature and the body of its kind", async () => {
      // A request that had no answer in time is sent again, after later ones.
      const route = await undisturbed(installation, async (round, until) => {
        const made = await createRoute(installation, receiver, `/calls-of-${name.replace(/\W/g, "-")}-${round}`);
        expect(await makeCalls(made.writeKey, TRACKS)).toEqual([]);
        await until(() => expect(requestsOf(made)).toHaveLength(EXPECTED.length + TRACKS));
        return made;
      });
      expect(messageIdsOf(requestsOf(route)).size).toBe(EXPECTED.length + TRACKS);
      expect(requestsOf(route).every((request) => hasGoodSignature(request, route.sharedSecret))).toBe(true);
      const ofAda = requestsOf(route)
        .map(bodyOf)
        .filter((body) => body["userId"] === "ada" || body["User ID"] === "ada");
      // The user's events come in the order of the calls: they were in one batch.
      expect(ofAda.map(({ context: _context, timestamp: _timestamp, ...rest }) => rest)).toEqual(EXPECTED);
      for (const { timestamp, context } of ofAda) {
        // The caller's time, corrected by its clock's offset and by the way to ingest.
        expect(Math.abs(Date.parse(String(timestamp)) - Date.parse(TIMESTAMP))).toBeLessThan(60_000);
        expect(context).toMatchObject({ library: { name: expect.stringMatching(/^posthaste-(js|go)$/) } });
      }
    });

    it("hands calls with a write key that nobody knows to its error callback", async () => {
      expect(await makeCalls("no-such-key", 0)).toEqual(["refused"]);
    });
  });
}
