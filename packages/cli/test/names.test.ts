/** Names of sources, destinations and audiences in the place of ids, over a false control. */
import { describe, expect, it } from "vitest";
import { useCommand } from "./harness.ts";

const command = useCommand();
const { posthaste } = command;
const BILLING = { id: "dst_1", name: "Billing" };
const SHOP = { id: "src_1", name: "Web shop" };
const pageOf = (...data: readonly object[]) => ({ data, nextCursor: null, complete: true });
const paths = () => command.control.requests.map(({ method, target }) => `${method} ${target}`);

function scriptLists(): void {
  command.control.script("GET /v1/destinations", pageOf(BILLING, { id: "dst_2", name: "Acme CRM" }));
  command.control.script("GET /v1/sources", pageOf(SHOP));
  command.control.script("GET /v1/audiences", pageOf({ id: "aud_1", name: "VIP" }));
}

describe("a name", () => {
  it.each([
    [["destinations", "get", "billing"], "GET /v1/destinations/dst_1"],
    [["destinations", "health", "Billing"], "GET /v1/health/destinations/dst_1"],
    [["destinations", "remove", "Billing", "dst_2", "--dry-run"], "GET /v1/destinations/dst_1"],
    [["secret", "switch", "Acme CRM"], "POST /v1/destinations/dst_2/secret/switch"],
    [["send", "Billing"], "POST /v1/destinations/dst_1/test"],
    [["sources", "get", "Web shop"], "GET /v1/sources/src_1"],
    [["sources", "calls", "unknown"], "GET /v1/sources/unknown/calls?limit=50"],
    [["audiences", "get", "VIP"], "GET /v1/audiences/aud_1"],
    [["deliveries", "--destination-id", "Billing"], "GET /v1/deliveries?destinationId=dst_1&limit=50"],
    [["events", "why", "m-1", "--source-id", "Web shop"], "GET /v1/events/m-1?sourceId=src_1"],
    [["dead-letters", "count", "--destination-id", "Billing"], "GET /v1/dead-letters/counts?destinationId=dst_1"],
  ])("is taken by %j", async (words, asked) => {
    scriptLists();
    await posthaste(words);
    expect(paths()).toContainEqual(expect.stringContaining(asked));
  });

  it("is taken in a body, and in the place of the destination of a resend", async () => {
    scriptLists();
    await posthaste([
      "destinations",
      "create",
      "--name",
      "New",
      "--source-ids",
      "Web shop,src_2",
      "--urls",
      "http://a",
    ]);
    expect(command.lastBody()).toMatchObject({ sourceIds: ["src_1", "src_2"] });
    await posthaste(["deliveries", "resend", "m-1", "--destination-id", "Billing"]);
    expect(command.lastBody()).toEqual({ messageId: "m-1", destinationId: "dst_1" });
  });

  it("of nothing ends the command before it does anything, and ids ask for no list", async () => {
    scriptLists();
    const { code, stderr } = await posthaste(["destinations", "remove", "Nothing", "--yes"]);
    expect([code, stderr.split("\n")[0], paths().length]).toEqual([
      3,
      "posthaste: there is no destination with the id or the name Nothing",
      1,
    ]);
    command.control.reset();
    await posthaste(["destinations", "get", "dst_1"]);
    expect(paths()).toEqual(["GET /v1/destinations/dst_1"]);
  });
});
