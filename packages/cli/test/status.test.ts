import { spawn } from "node:child_process";
import { once } from "node:events";
import { eventually } from "@posthaste/testkit/eventually";
import { describe, expect, it } from "vitest";
import { durationWords, statusLines } from "../src/commands/status-lines.ts";
import { BINARY, TOKEN } from "./fake-control.ts";
import { useCommand } from "./harness.ts";
import { ACME, BILLING, HEALTHY_STATUS, WRONG_STATUS } from "./wrong-status.ts";

const command = useCommand();
const { posthaste } = command;
const NOW_MS = Date.parse("2026-11-22T10:42:30.000Z");

describe("the status", () => {
  it("is one line where nothing is wrong, and ends with 0", async () => {
    command.control.script("GET /v1/status", HEALTHY_STATUS);
    const { code, stdout, stderr } = await posthaste(["status"]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toBe(
      "nothing needs you   ● 41 healthy   ◌ 3 off   received 1,204/s   delivered 3.5/s   p99 38 ms   waiting 12,031\n",
    );
  });

  it("names what is wrong, why, since when and what comes next", () => {
    expect(statusLines(WRONG_STATUS, NOW_MS)).toEqual([
      "▲ 3 need you   ● 39 healthy   ◌ 3 off   received -   delivered 3.5/s   p99 38 ms   waiting 12,031   " +
        "behind 1,007",
      "✗ router is not ready: brokers: down",
      "■ Billing\u001b[31m      breaker open, timeout from https://b.example/  since 2026-11-22T10:41:30.000Z (1 m)  " +
        "probe in 20 s  waiting 629",
      "▲ Acme CRM          503 from https://acme.example/hook  since 2026-11-22T06:10:30.000Z (4 h 32 m)  " +
        "next try 2026-11-22T10:43:10.000Z  waiting 11,402  dead 12,345",
      "  and 1 more: posthaste destinations health",
      "↻ replay rpl_1 is running: 7,812 of 12,345 sent again",
      "! delivery processes run with settings that differ",
    ]);
  });

  it.each([
    ["a destination is open", { destinations: { open: 1, failing: 0, healthy: 1, off: 0 } }],
    ["a destination fails", { destinations: { open: 0, failing: 1, healthy: 1, off: 0 } }],
    ["a destination needs somebody", { needing: 1, destinations: { open: 0, failing: 3, healthy: 1, off: 0 } }],
    ["a service is not ready", { ready: false }],
  ])("ends with 3 when %s, and obeys no terminal", async (_, over) => {
    command.control.script("GET /v1/status", { ...HEALTHY_STATUS, needsSomebody: [BILLING], ...over });
    const { code, stdout } = await posthaste(["status"]);
    expect([code, stdout.includes("\u001b")]).toEqual([3, false]);
  });

  it("counts what delivers again apart, and ends with 0 where that is all", async () => {
    const destinations = { open: 0, failing: 2, healthy: 1, off: 0 };
    command.control.script("GET /v1/status", { ...HEALTHY_STATUS, needing: 0, destinations });
    const { code, stdout } = await posthaste(["status"]);
    expect([code, stdout.slice(0, 56)]).toEqual([0, "nothing needs you   ● 2 deliver again   ● 1 healthy   ◌ "]);
  });

  it("says of a destination that delivers again since when, not since when it fails", () => {
    const again = { ...ACME, reason: null, deliversAgainSince: "2026-11-22T10:40:00.000Z" };
    expect(statusLines({ ...HEALTHY_STATUS, needsSomebody: [again] }, NOW_MS)[1]).toBe(
      "▲ Acme CRM          80 % of 5 m failed, delivers again since 2026-11-22T10:40:00.000Z  " +
        "next try 2026-11-22T10:43:10.000Z  waiting 11,402  dead 12,345",
    );
  });

  it("tells of a mended destination, how many dead letters can be sent again, and how", () => {
    const again = { destinationId: "dst_7", name: "Shop", since: "2026-11-22T10:40:00.000Z", deadLetters: 280 };
    const first = { ...again, firstAt: "2026-11-22T09:00:00.000Z", lastAt: "2026-11-22T10:39:00.000Z" };
    const status = {
      ...HEALTHY_STATUS,
      answeringAgain: [first, { ...first, name: "CRM", since: null, deadLetters: 1 }],
    };
    expect(statusLines(status, NOW_MS).slice(1)).toEqual([
      "● Shop              delivers again since 2026-11-22T10:40:00.000Z  280 dead letters can be sent again",
      "  posthaste dead-letters replay --destination-id dst_7",
      "● CRM               delivers again  1 dead letter can be sent again",
      "  posthaste dead-letters replay --destination-id dst_7",
    ]);
  });

  it("is the API's document under --json", async () => {
    command.control.script("GET /v1/status", { ...WRONG_STATUS, complete: false });
    const { code, stdout, stderr } = await posthaste(["status", "--json"]);
    expect([code, JSON.parse(stdout)]).toEqual([3, { ...WRONG_STATUS, complete: false }]);
    expect(stderr).toBe("control is still reading what delivery says: some of it may be missing\n");
  });

  it("is looked at again and again under --watch, a document a line, until Ctrl-C", async () => {
    let looks = 0;
    command.control.scriptRequest("GET /v1/status", () => {
      looks += 1;
      return { body: JSON.stringify({ ...HEALTHY_STATUS, looks }) };
    });
    const args = [BINARY, "status", "--watch", "--json", "--url", command.control.url];
    const watching = spawn(process.execPath, args, { env: { PATH: process.env.PATH, POSTHASTE_ADMIN_TOKEN: TOKEN } });
    let stdout = "";
    watching.stdout.on("data", (chunk) => {
      stdout += chunk;
    });
    await eventually(() => expect(stdout.trimEnd().split("\n")).toHaveLength(2));
    const ended = once(watching, "exit");
    watching.kill("SIGINT");
    expect((await ended)[0]).toBe(130);
    expect(
      stdout
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line).looks),
    ).toEqual([1, 2]);
  });

  it.each([
    [0, "0 s"],
    [59_400, "59 s"],
    [61_000, "1 m 1 s"],
    [16_320_000, "4 h 32 m"],
    [7_200_000, "2 h"],
    [90_061_000, "1 d 1 h"],
  ])("says %i ms as %s", (ms, words) => {
    expect(durationWords(ms)).toBe(words);
  });
});

describe("the health of destinations", () => {
  it("is a list with the worst first, narrowed by state and name", async () => {
    command.control.script("GET /v1/health/destinations", { data: [BILLING, ACME], nextCursor: null, complete: true });
    const { code, stdout } = await posthaste(["destinations", "health", "--state", "failing", "--name", "a c"]);
    expect(code).toBe(0);
    expect(stdout.split("\n")[1]).toBe(
      "failing\tAcme CRM\tdst_1\t2026-11-22T06:10:30.000Z\t503 from https://acme.example/hook\t0.2\t40\t11402\t12345\t7",
    );
    expect(command.control.requests.at(-1)?.target).toContain("state=failing&name=a+c");
  });

  it("of one is the API's document, and of none ends with 3", async () => {
    command.control.script("GET /v1/health/destinations/dst_1", ACME);
    expect(JSON.parse((await posthaste(["destinations", "health", "dst_1", "--json"])).stdout)).toEqual(ACME);
    command.control.script("GET /v1/health/destinations", { data: [], nextCursor: null, complete: true });
    expect((await posthaste(["destinations", "health", "--state", "open"])).code).toBe(3);
  });
});
