/**
 * The schema of the chart's values: which settings each service takes, so that Helm refuses a misspelt one.
 * `node scripts/run.mjs test/checks/chart-settings.ts` writes it.
 */
import { writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { controlSettings } from "@posthaste/control/config";
import { topicsSettings } from "@posthaste/control/topics-settings";
import { deliverySettings } from "@posthaste/delivery/config";
import { ingestSettings } from "@posthaste/ingest/config";
import { routerSettings } from "@posthaste/router/config";
import { frameSettings } from "@posthaste/runtime/run-service";
import { traceSettings } from "@posthaste/runtime/trace-settings";

export const CHART_SCHEMA = fileURLToPath(new URL("../../deploy/helm/posthaste/values.schema.json", import.meta.url));

/** The chart sets these by itself. */
const OF_CHART =
  /^(KAFKA_|SCHEMA_REGISTRY_|POSTHASTE_CANARY)|_(ADMIN_TOKEN|SECRET_KEYS|READY_URLS|DATA_DIR|HOST|PORT)$|STDIN/;
type Schema = Readonly<Record<string, unknown>>;

const value = { type: ["string", "number", "boolean"] };
const text = { type: "string" };
const namesOf = (settings: object): readonly string[] =>
  Object.keys("shape" in settings ? (settings.shape as object) : {});

/** Of these names and of those that every service has. */
function settingsSchema(names: readonly string[]): Schema {
  const ofAll = [...namesOf(frameSettings), ...namesOf(traceSettings)];
  const all = [...new Set([...names, ...ofAll])].filter((name) => !OF_CHART.test(name)).sort();
  return {
    type: "object",
    additionalProperties: false,
    properties: Object.fromEntries(all.map((name) => [name, value])),
  };
}

const object = (properties: Readonly<Record<string, Schema>>, required: readonly string[] = []): Schema => ({
  ...{ type: "object", additionalProperties: false, properties },
  ...(required.length === 0 ? {} : { required }),
});

export function chartSchema(): string {
  const ofServices = {
    ingest: ingestSettings,
    router: routerSettings,
    delivery: deliverySettings,
    control: controlSettings,
  };
  const all = [...Object.values(ofServices).flatMap(namesOf), ...namesOf(topicsSettings)];
  const replicas = { type: "integer", minimum: 1 };
  const service = object({ type: text, port: { type: "integer" } });
  const bool = { type: "boolean" };
  const anything = { type: "object" };
  const networks = { type: "array", items: text };
  const own = (name: keyof typeof ofServices) => ({
    ...{ replicas, resources: anything, settings: settingsSchema(namesOf(ofServices[name])) },
  });
  const copies = { type: "integer", minimum: 0 };
  const strimzi = object({ enabled: bool, version: text, storage: text, storageClass: text });
  const mechanism = { enum: ["", "plain", "scram-sha-256", "scram-sha-512", "oauthbearer"] };
  const schema = {
    $schema: "http://json-schema.org/draft-07/schema#",
    ...object({
      image: object({ repository: text, tag: text, pullPolicy: text, pullSecrets: { type: "array" } }),
      kafka: object({ brokers: text, tls: bool, sasl: object({ mechanism, username: text }), strimzi }),
      schemaRegistry: object({
        url: text,
        username: text,
        own: object({ enabled: bool, image: text, copies, resources: anything }),
      }),
      existingSecret: text,
      secret: object({ adminToken: text, secretKeys: text, saslPassword: text, registryPassword: text }),
      settings: settingsSchema(all),
      topics: object({ enabled: bool, settings: settingsSchema(namesOf(topicsSettings)) }),
      ingest: object({ ...own("ingest"), service }),
      router: object(own("router")),
      delivery: object(own("delivery")),
      control: object({ ...own("control"), service, storage: text, storageClass: text, replicas: { enum: [1, 2] } }),
      canary: object({ enabled: bool }),
      networkPolicy: object({ enabled: bool, brokers: networks, allowNetworks: networks }),
      monitoring: object({ podMonitor: bool, rules: bool, dashboards: bool }),
      autoscaling: object({ enabled: bool, prometheus: text, most: replicas }),
      global: anything,
    }),
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

if (import.meta.main) await writeFile(CHART_SCHEMA, chartSchema());
