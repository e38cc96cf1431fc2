/**
 * The demonstration makes a source, a destination and a receiver that checks signatures, sends the seven kinds of event
 * through all of it, and prints a table of the requests that came. The receiver stays for a person's own calls.
 */
import { randomBytes, randomUUID } from "node:crypto";
import { type ReceivedRequest, type Receiver, startReceiver } from "@posthaste/testkit/receiver";
import { hasGoodSignature } from "@posthaste/testkit/signature";
import type { System } from "../stack/system.ts";
import { type ControlClient, createControlClient } from "./control-client.ts";
import { formatTable } from "./format-table.ts";

/** A destination gets the events that ingest receives from one second after control's answer on (decisions.md). */
const CONFIG_LIVE_MS = 1_000;
/** The name of the demonstration's source and destination. */
const DEMO_NAME = "Demonstration";
const RECEIPT_TIMEOUT_MS = 15_000;

/** A call of each kind that ingest takes, with the fields that the product's page shows. */
const CALLS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  identify: { traits: { email: "ada@example.com", plan: "premium" } },
  track: { event: "Order Completed", properties: { orderId: "50314b8e", revenue: 39.95 } },
  page: { properties: { path: "/academy/", referrer: "", title: "Academy", url: "https://example.com/academy/" } },
  screen: {
    name: "Home",
    context: { device: { model: "iPhone 7", type: "ios" }, os: { name: "iOS", version: "10.3" } },
  },
  group: { groupId: "0e8c78ea9d97a7b8185e8632", traits: { name: "Initech", "total billed": 830 } },
  alias: { previousId: "anonymous-39239" },
};

interface Row {
  readonly type: string;
  readonly request: ReceivedRequest;
  readonly elapsedMs: number;
}

export interface Demo {
  readonly writeKey: string;
  readonly receiver: Receiver;
  /** The table, ready to print. */
  readonly table: string;
  /** True when all seven requests came and every signature was good. */
  readonly complete: boolean;
}

export interface DemoOptions {
  readonly system: Pick<System, "ingestUrl" | "controlUrl" | "adminToken">;
  readonly log: (line: string) => void;
  /** Called for each request that comes after the demonstration. */
  readonly onReceived: (line: string) => void;
}

/** Runs the demonstration; the caller closes the receiver. Throws when control or ingest refuses a call. */
export async function runDemo({ system, log, onReceived }: DemoOptions): Promise<Demo> {
  const sharedSecret = randomBytes(16).toString("hex");
  let demonstrating = true;
  const receiver = await startReceiver({
    onRequest: (request) => {
      if (!demonstrating) onReceived(describe(request, sharedSecret));
    },
  });
  const control = createControlClient(system.controlUrl, system.adminToken);
  await removeLastDemo(control);
  const source = await control.createSource(DEMO_NAME);
  const urls = [`${receiver.url}/webhook`];
  await control.createDestination({ name: DEMO_NAME, sourceIds: [source.id], urls, sharedSecret });
  await pause(CONFIG_LIVE_MS);

  log("sending the seven kinds of event");
  const rows: Row[] = [];
  for (const [type, fields] of Object.entries(CALLS)) {
    const sentAtMs = Date.now();
    const messageId = randomUUID();
    await sendCall(system.ingestUrl, source.writeKey, type, { userId: "ada", messageId, ...fields });
    rows.push(...(await receipt(receiver, type, sentAtMs, (request) => request.headers["x-message-id"] === messageId)));
  }
  const sentAtMs = Date.now();
  await control.call("POST", "/v1/deletions", { userId: "ada", sourceIds: [source.id] });
  rows.push(...(await receipt(receiver, "delete", sentAtMs, (request) => typeOf(request) === "delete")));
  demonstrating = false;

  const isGood = ({ request }: Row): boolean => hasGoodSignature(request, sharedSecret);
  return {
    writeKey: source.writeKey,
    receiver,
    complete: rows.length === Object.keys(CALLS).length + 1 && rows.every(isGood),
    table: formatTable(
      ["type", "status", "signature", "ms"],
      [...Object.keys(CALLS), "delete"].map((type) => {
        const row = rows.find((candidate) => candidate.type === type);
        return row
          ? [type, "200", isGood(row) ? "good" : "BAD", String(row.elapsedMs)]
          : [type, "nothing came", "", ""];
      }),
    ),
  };
}

/** Removes the source and the destination of an earlier start, whose receiver is gone. */
async function removeLastDemo(control: ControlClient): Promise<void> {
  for (const kind of ["destinations", "sources"]) {
    const { data } = (await control.call("GET", `/v1/${kind}?limit=100`)) as { data: { id: string; name: string }[] };
    for (const { id, name } of data) if (name === DEMO_NAME) await control.call("DELETE", `/v1/${kind}/${id}`);
  }
}

/** Sends a call to ingest. Throws unless ingest takes it. */
export async function sendCall(ingestUrl: string, writeKey: string, type: string, call: object): Promise<void> {
  const response = await fetch(`${ingestUrl}/v1/${type}`, {
    method: "POST",
    headers: {
      authorization: `Basic ${Buffer.from(`${writeKey}:`).toString("base64")}`,
      "content-type": "application/json",
    },
    body: JSON.stringify(call),
  });
  if (!response.ok) throw new Error(`ingest refused a ${type} call: ${response.status} ${await response.text()}`);
}

/** Returns the row of the first request that fits, or no row when no such request came in time. */
async function receipt(
  receiver: Receiver,
  type: string,
  sentAtMs: number,
  fits: (request: ReceivedRequest) => boolean,
): Promise<Row[]> {
  const deadline = performance.now() + RECEIPT_TIMEOUT_MS;
  while (performance.now() < deadline) {
    const request = receiver.requests.find(fits);
    if (request) return [{ type, request, elapsedMs: request.receivedAtMs - sentAtMs }];
    await pause(2);
  }
  return [];
}

function describe(request: ReceivedRequest, sharedSecret: string): string {
  const signature = hasGoodSignature(request, sharedSecret) ? "good" : "BAD";
  return `received ${typeOf(request)}, signature ${signature}: ${request.body.toString("utf8")}`;
}

function typeOf(request: ReceivedRequest): string {
  try {
    return String((JSON.parse(request.body.toString("utf8")) as { type?: unknown }).type);
  } catch {
    return "a body that is no JSON";
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
