import { createTopicNames, subjectOf } from "@posthaste/contracts/topics";
import { type Log, SILENT_LOG } from "@posthaste/core/log";
import { schemaRegistryUrl } from "@posthaste/testkit/broker";
import { CertificateAuthority } from "@posthaste/testkit/certificates";
import { eventually } from "@posthaste/testkit/eventually";
import { openRegistryGateway, type RegistryGateway } from "@posthaste/testkit/registry-gateway";
import { uniqueName } from "@posthaste/testkit/topics";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createOpenCodec } from "../src/codec/registry.ts";
import { openRegistry, type RegistryOptions } from "../src/codec/registry-client.ts";

const USER = { username: "a-user", password: "a password" };
const authority = new CertificateAuthority();
const names = createTopicNames(uniqueName("registry"));
let gateway: RegistryGateway;
let url = "";
const waiting: AbortController[] = [];

/** The real registry behind TLS and a login. */
beforeAll(async () => {
  const tls = authority.issue({ commonName: "registry", names: ["127.0.0.1"] });
  gateway = await openRegistryGateway({ tls, login: USER });
  url = gateway.url;
});
afterEach(() => {
  for (const each of waiting.splice(0)) each.abort();
});
afterAll(async () => {
  await gateway?.close();
  const deleted = `${schemaRegistryUrl()}/subjects/${subjectOf(names, "event")}`;
  await fetch(deleted, { method: "DELETE" });
});

/** Opens a codec; its warnings while it waits. */
function open(options: Partial<RegistryOptions>) {
  const reasons: string[] = [];
  const log: Log = { ...SILENT_LOG, warn: (fields) => reasons.push(String(fields["reason"] ?? fields["event"])) };
  const ending = new AbortController();
  waiting.push(ending);
  const opened = createOpenCodec({ url, names, log, signal: ending.signal, ...options })("event");
  opened.catch(() => {});
  return { opened, reasons };
}

describe("a registry behind TLS and a login", () => {
  it("is reached with its authority and its user, by the client and by the one question beside it", async () => {
    const { opened, reasons } = open({ ca: authority.cert, login: USER });
    await opened;
    expect(reasons).toEqual([]);
    const registry = openRegistry({ url, ca: authority.cert, login: USER });
    const id = await registry.client.getLatestSchemaId(subjectOf(names, "event"));
    expect(await registry.fetchText(id, 5000)).toContain('"record"');
    const stranger = openRegistry({ url, ca: authority.cert });
    expect(await stranger.fetchText(id, 5000)).toBeUndefined();
  });

  it("is reached with the user of its URL too", async () => {
    const { username, password } = USER;
    const named = url.replace("//", `//${username}:${encodeURIComponent(password)}@`);
    await open({ url: named, ca: authority.cert }).opened;
  });

  it.each([
    ["another authority", { ca: new CertificateAuthority().cert, login: USER }],
    ["the usual authorities", { login: USER }],
  ])("is waited for with %s, with the setting to change", async (_, options) => {
    const { reasons } = open(options);
    await eventually(() => expect(reasons).toEqual([expect.stringContaining("SCHEMA_REGISTRY_CA_FILE")]));
  });

  it("refuses a wrong password at once, with the settings to change and without the password", async () => {
    const { opened } = open({ ca: authority.cert, login: { ...USER, password: "wrong-password" } });
    await expect(opened).rejects.toMatchObject({ code: "registry_unavailable", retryable: false });
    await expect(opened).rejects.toThrow(/SCHEMA_REGISTRY_USERNAME a-user .*SCHEMA_REGISTRY_PASSWORD/);
    await expect(opened).rejects.not.toThrow(/wrong-password/);
  });

  it("refuses whoever does not log in, with the settings to set", async () => {
    const { opened } = open({ ca: authority.cert });
    await expect(opened).rejects.toThrow(/wants a login: set SCHEMA_REGISTRY_USERNAME and SCHEMA_REGISTRY_PASSWORD/);
  });

  it("that does not speak TLS is waited for, with the URL to change", async () => {
    const plain = schemaRegistryUrl().replace("http:", "https:");
    const { reasons } = open({ url: plain, ca: authority.cert });
    await eventually(() =>
      expect(reasons).toEqual([expect.stringContaining("begin SCHEMA_REGISTRY_URL with http://")]),
    );
  });
});
