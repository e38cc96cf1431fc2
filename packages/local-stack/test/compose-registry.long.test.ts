/**
 * The registry of compose keeps its schemas in Kafka, and takes those of the local command's registry with their ids:
 * an id stands in every record.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { withAdmin } from "@posthaste/testkit/broker";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { scratchFolder } from "../src/process/scratch-folder.ts";
import { type LocalStack, startLocalStack } from "../src/stack/local-stack.ts";
import { type ComposeRegistry, findComposeRegistry, prepareComposeRegistry } from "./compose-registry.ts";

const CONFLUENT = "/apis/ccompat/v7";
const schemaOf = (name: string) => JSON.stringify({ type: "record", name, fields: [{ name: "id", type: "string" }] });

const distribution = await findComposeRegistry();
const why = "missing" in distribution ? distribution.missing : "";
if (why !== "") process.stdout.write(`skipped: the registry of compose: ${why}\n`);

let dataDir: string;
let stack: LocalStack;
let registry: ComposeRegistry;

async function register(api: string, name: string): Promise<number> {
  const answer = await fetch(`${api}/subjects/${name}-value/versions`, {
    method: "POST",
    headers: { "content-type": "application/vnd.schemaregistry.v1+json" },
    body: JSON.stringify({ schema: schemaOf(name) }),
  });
  return ((await answer.json()) as { readonly id: number }).id;
}

async function read(api: string, id: number): Promise<unknown> {
  return ((await (await fetch(`${api}/schemas/ids/${id}`)).json()) as { readonly schema?: string }).schema;
}

describe.skipIf(why !== "")(`the registry of compose${why === "" ? "" : ` (skipped: ${why})`}`, () => {
  beforeAll(async () => {
    dataDir = await mkdtemp(join(scratchFolder(process.env), "posthaste-compose-registry-"));
    stack = await startLocalStack({ dataDir, shortLived: true, ignoreNamed: true, env: process.env, log: () => {} });
    const [broker = ""] = stack.brokers;
    const folder = "folder" in distribution ? distribution.folder : "";
    registry = await prepareComposeRegistry(folder, { broker, dataDir });
    await registry.process.start();
  });

  afterAll(async () => {
    await registry.process.kill();
    await stack.stop();
    await rm(dataDir, { recursive: true });
  });

  it("takes the schemas of another registry with their ids, and has them after a kill", async () => {
    const names = ["First", "Second", "Third"];
    const ids: number[] = [];
    for (const name of names) ids.push(await register(stack.schemaRegistry, name));
    // The commands of docs/operating.md, "Moving the registry".
    const exported = await fetch(`${stack.schemaRegistry.replace(CONFLUENT, "")}/apis/registry/v2/admin/export`);
    const imported = await fetch(`${registry.root}/apis/registry/v3/admin/import`, {
      method: "POST",
      headers: {
        "content-type": "application/zip",
        "x-registry-preserve-globalid": "true",
        "x-registry-preserve-contentid": "true",
      },
      body: await exported.arrayBuffer(),
    });
    expect([exported.status, imported.status]).toEqual([200, 204]);
    const api = `${registry.root}${CONFLUENT}`;
    const schemas = names.map(schemaOf);
    expect(await Promise.all(ids.map((id) => read(api, id)))).toEqual(schemas);
    // Schemas that are there keep their ids, and a new one gets none of theirs.
    expect(await register(api, "Second")).toBe(ids[1]);
    const next = await register(api, "Fourth");
    expect(ids).not.toContain(next);
    await registry.process.kill();
    await registry.process.start();
    expect(await Promise.all([...ids, next].map((id) => read(api, id)))).toEqual([...schemas, schemaOf("Fourth")]);
  });

  it("has topics whose records are never deleted", async () => {
    const topics = ["kafkasql-journal", "kafkasql-snapshots"];
    const { resources } = await withAdmin(
      (admin) =>
        admin.describeConfigs({
          includeSynonyms: false,
          resources: topics.map((name) => ({ type: 2, name, configNames: ["retention.ms"] })),
        }),
      stack.brokers,
    );
    expect(resources.map(({ configEntries }) => configEntries[0]?.configValue)).toEqual(["-1", "-1"]);
  });
});
