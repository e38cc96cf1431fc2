import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { DestinationRecord } from "@posthaste/contracts/destination-codec";
import { createTopicNames, subjectOf } from "@posthaste/contracts/topics";
import type { ResponseLog } from "@posthaste/core/config/destination";
import { createOpenCodec } from "@posthaste/kafka/codec/registry";
import { schemaRegistryUrl } from "@posthaste/testkit/broker";
import { eventually } from "@posthaste/testkit/eventually";
import { type Receiver, startReceiver } from "@posthaste/testkit/receiver";
import { uniqueName } from "@posthaste/testkit/topics";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createInstallation, type Installation } from "./installation.ts";

const RECORD: DestinationRecord = {
  ...{ id: "dst_1", revision: 1, type: "Webhooks", name: "n", sourceIds: ["src_1"], enabled: true },
  ...{ settle: "any", rateLimitPerSecond: null, standardWebhooks: true, responseLog: "failures" },
  payload: "documented",
  ...{ activeSecret: null, nextSecret: null, previousSecret: null, createdAtMs: 1, updatedAtMs: 2 },
  urls: [{ url: "https://a.example/", headers: {} }],
};

let installation: Installation;
let receiver: Receiver;

beforeAll(async () => {
  receiver = await startReceiver();
  installation = await createInstallation([60_000]);
  await installation.startDelivery();
});

afterAll(async () => {
  await installation.remove();
  await receiver.close();
});

/** The answers in the attempt log of a URL that takes everything and of one that fails, of a destination of its own. */
async function loggedAnswers(id: string, responseLog?: ResponseLog): Promise<readonly (string | null)[]> {
  receiver.script(`/${id}/taken`, { body: "patient 4711 was updated" });
  receiver.script(`/${id}/failed`, { status: 500, body: "no room for patient 4711" });
  const configOffset = await installation.configure(id, {
    settle: "each",
    ...(responseLog !== undefined && { responseLog }),
    urls: [`/${id}/taken`, `/${id}/failed`].map((path) => ({ url: receiver.url + path, headers: {} })),
  });
  await installation.send([{ messageId: id, destinationId: id, configOffset }]);
  const { urls } = await eventually(() => {
    const attempt = installation.attempts.find(({ messageId }) => messageId === id);
    if (attempt === undefined) throw new Error("it is not in the log yet");
    return attempt;
  });
  expect(urls.map(({ status }) => status)).toEqual([200, 500]);
  return urls.map(({ answer }) => answer);
}

/** The schema of destinations as it was before they had the setting. */
async function schemaBefore(): Promise<string> {
  const file = fileURLToPath(import.meta.resolve("@posthaste/schemas/destination.avsc"));
  const schema: { fields: { name: string }[] } = JSON.parse(await readFile(file, "utf8"));
  return JSON.stringify({ ...schema, fields: schema.fields.filter(({ name }) => name !== "responseLog") });
}

async function askRegistry(method: string, path: string, body: object): Promise<unknown> {
  const headers = { "content-type": "application/vnd.schemaregistry.v1+json" };
  const response = await fetch(schemaRegistryUrl() + path, { method, headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return response.json();
}

it("a destination of before the setting has its failures' answers kept, under a strict registry", async () => {
  const names = createTopicNames(uniqueName("response-log"));
  const subject = subjectOf(names, "destination");
  const { id } = (await askRegistry("POST", `/subjects/${subject}/versions`, { schema: await schemaBefore() })) as {
    readonly id: number;
  };
  await askRegistry("PUT", `/config/${subject}`, { compatibility: "BACKWARD" });
  const codec = await createOpenCodec({ url: schemaRegistryUrl(), names })<DestinationRecord>("destination");
  const bytesOf = (responseLog: ResponseLog) => codec.encode({ ...RECORD, responseLog });
  // One byte tells the setting: without it the record is the same as of the earlier version.
  const [kept, none] = [bytesOf("all"), bytesOf("off")];
  const place = kept.findIndex((byte, index) => byte !== none[index]);
  const before = Buffer.concat([kept.subarray(0, place), kept.subarray(place + 1)]);
  before.writeInt32BE(id, 1);
  await codec.prefetch(before);
  expect(codec.decode(before)).toEqual({ ...RECORD, responseLog: "failures" });
});

describe("what receivers answer", () => {
  it("stands in the attempt log for failures, unless the destination says otherwise", async () => {
    expect(await loggedAnswers("unsaid")).toEqual([null, "no room for patient 4711"]);
  });

  it("stands there for all attempts of a destination that wants it", async () => {
    expect(await loggedAnswers("all", "all")).toEqual(["patient 4711 was updated", "no room for patient 4711"]);
  });

  it("stands there for none of a destination that switched it off", async () => {
    expect(await loggedAnswers("off", "off")).toEqual([null, null]);
  });
});
