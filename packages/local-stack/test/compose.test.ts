/** The files for Docker Compose: secrets, rights, three brokers, logins, and the programs that watch. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";

interface ComposeService {
  readonly build?: { readonly context: string };
  readonly image?: string;
  readonly environment?: Readonly<Record<string, unknown>>;
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly read_only?: boolean;
  readonly tmpfs?: readonly string[];
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
}

const DEPLOY = fileURLToPath(new URL("../../../deploy/", import.meta.url));
const textOf = (path: string) => readFile(join(DEPLOY, path), "utf8");
/** Compose's own tags say how a list is merged. */
const TAGS = ["!reset", "!override"].map((tag) => ({
  tag,
  collection: "seq" as const,
  resolve: (value: unknown) => value,
}));

async function composeFile(name: string) {
  const parsed = parse(await textOf(name), { merge: true, customTags: (tags) => [...tags, ...TAGS] }) as {
    readonly services: Readonly<Record<string, ComposeService>>;
    readonly volumes?: Readonly<Record<string, unknown>>;
  };
  return parsed;
}

const composeServices = async () => Object.entries((await composeFile("compose.yaml")).services);
const OURS = ["topics", "ingest", "router", "delivery", "control"];

describe("compose", () => {
  it("gives the admin token to control alone, and the secret keys to control and delivery alone", async () => {
    const services = await composeServices();
    const holding = (setting: string) =>
      services.filter(([, { environment = {} }]) => setting in environment).map(([name]) => name);
    expect(holding("POSTHASTE_ADMIN_TOKEN")).toEqual(["control"]);
    expect(holding("POSTHASTE_SECRET_KEYS")).toEqual(["delivery", "control"]);
    expect(holding("POSTHASTE_RETRY_SCHEDULE")).toEqual(["topics", "delivery"]);
    expect(holding("SCHEMA_REGISTRY_URL")).toEqual(OURS);
    expect(holding("KAFKA_SASL_MECHANISM")).toEqual(OURS);
  });

  it("hands the networks and ports that webhooks may reach to delivery and control, as set", async () => {
    const services = await composeServices();
    for (const setting of ["POSTHASTE_ALLOW_NETWORKS", "POSTHASTE_DENY_NETWORKS", "POSTHASTE_WEBHOOK_PORTS"]) {
      const holding = services.filter(([, { environment = {} }]) => setting in environment);
      expect(holding.map(([name]) => name)).toEqual(["delivery", "control"]);
      for (const [, { environment }] of holding) expect(environment?.[setting]).toBe(`\${${setting}:-}`);
    }
  });

  it("lets each process of control have its canaries at its own address", async () => {
    const base = (await composeFile("compose.yaml")).services;
    const jobs = (await composeFile("compose.jobs.yaml")).services;
    for (const services of [base, jobs]) {
      const own = { control: base["control"], ...services };
      const origins = Object.entries(own)
        .filter(([name]) => name.startsWith("control"))
        .map(
          ([, each]) =>
            each?.environment?.["POSTHASTE_CANARY_ORIGIN"] ?? base["control"]?.environment?.["POSTHASTE_CANARY_ORIGIN"],
        );
      expect(origins).toContain("http://control:8090");
      expect(services["delivery"]?.environment?.["POSTHASTE_CANARY_ORIGINS"]).toBe(origins.join(","));
    }
  });

  it("publishes its ports on this host alone", async () => {
    const published = (await composeServices()).flatMap(([, { ports = [] }]) => ports);
    expect(published).toEqual([8080, 8090, 9090, 9093, 3000].map((port) => `127.0.0.1:${port}:${port}`));
  });

  it("takes every right from every service, and a writable root from all but the broker and the registry", async () => {
    const services = await composeServices();
    for (const [name, { cap_drop, security_opt }] of services) {
      expect([name, cap_drop, security_opt]).toEqual([name, ["ALL"], ["no-new-privileges:true"]]);
    }
    const writable = services.filter(([, service]) => service.read_only !== true).map(([name]) => name);
    expect(writable).toEqual(["kafka", "registry"]);
    expect((await textOf("Dockerfile")).match(/^USER .*$/gm)).toEqual(["USER node"]);
  });

  it("looks whether each service is alive, but the program that ends", async () => {
    const unwatched = (await composeServices()).filter(([, { healthcheck }]) => healthcheck === undefined);
    expect(unwatched.map(([name]) => name)).toEqual(["topics"]);
  });

  it("runs Kafka's programs in the broker's container without the agent, whose port the broker has", async () => {
    expect(await textOf("kafka/Dockerfile")).toContain("KAFKA_OPTS=-javaagent:");
    for (const file of ["compose.yaml", "compose.tls.yaml"]) {
      const test = (await composeFile(file)).services["kafka"]?.healthcheck?.test ?? [];
      expect(test[1]).toMatch(/^KAFKA_OPTS= /);
    }
  });

  it("keeps the registry's state in Kafka, for good", async () => {
    const registry = (await composeFile("compose.yaml")).services["registry"];
    expect(registry?.environment).toMatchObject({
      APICURIO_STORAGE_KIND: "kafkasql",
      APICURIO_KAFKASQL_TOPIC_RETENTION_MS: "-1",
    });
    expect(registry?.volumes).toBeUndefined();
  });

  it("declares every volume that it names", async () => {
    for (const file of (await readdir(DEPLOY)).filter((each) => each.startsWith("compose"))) {
      const { services, volumes = {} } = await composeFile(file);
      const named = Object.values(services).flatMap((each) => each.volumes ?? []);
      const own = named.map((each) => each.split(":")[0] ?? "").filter((each) => !each.startsWith("."));
      expect([file, own.sort()]).toEqual([file, Object.keys(volumes).sort()]);
    }
  });
});

describe("three brokers", () => {
  it("vote for one controller, and copy each record to three, of which two must have it", async () => {
    const { services } = await composeFile("compose.three.yaml");
    const brokers = Object.entries(services).filter(([name]) => name.startsWith("kafka"));
    expect(brokers.map(([name]) => name)).toEqual(["kafka", "kafka-2", "kafka-3"]);
    for (const [name, { environment = {} }] of brokers) {
      expect(environment).toMatchObject({
        KAFKA_CONTROLLER_QUORUM_VOTERS: "1@kafka:9093,2@kafka-2:9093,3@kafka-3:9093",
        KAFKA_DEFAULT_REPLICATION_FACTOR: 3,
        KAFKA_MIN_INSYNC_REPLICAS: 2,
        KAFKA_BROKER_SESSION_TIMEOUT_MS: 3000,
      });
      if (name === "kafka") continue;
      const [, id] = name.split("-");
      expect(environment["KAFKA_NODE_ID"]).toBe(Number(id));
      expect(environment["KAFKA_ADVERTISED_LISTENERS"]).toBe(`PLAINTEXT://${name}:9092`);
    }
    expect(services["registry"]?.environment).toMatchObject({ APICURIO_KAFKASQL_TOPIC_REPLICATION_FACTOR: 3 });
    for (const name of OURS) expect(services[name]?.environment?.["KAFKA_BROKERS"]).toContain("kafka-3:9092");
  });
});

describe("compose over TLS", () => {
  it("has every client of Kafka log in, the registry among them", async () => {
    const { services } = await composeFile("compose.tls.yaml");
    for (const name of OURS) {
      expect(services[name]?.environment).toMatchObject({ KAFKA_TLS: "true", KAFKA_SASL_MECHANISM: "scram-sha-512" });
    }
    expect(services["registry"]?.environment).toMatchObject({ APICURIO_KAFKA_COMMON_SECURITY_PROTOCOL: "SASL_SSL" });
    expect(services["kafka"]?.environment?.["KAFKA_LISTENERS"]).not.toMatch(/PLAINTEXT:/);
  });
});

describe("what watches compose", () => {
  it("asks the processes and brokers of every file for their metrics", async () => {
    const { scrape_configs, alerting } = parse(await textOf("prometheus/prometheus.yml")) as {
      readonly scrape_configs: readonly {
        readonly job_name: string;
        readonly dns_sd_configs: readonly [{ names: string[] }];
      }[];
      readonly alerting: unknown;
    };
    const asked = new Map(scrape_configs.map(({ job_name, dns_sd_configs }) => [job_name, dns_sd_configs[0].names]));
    const { services } = await composeFile("compose.three.yaml");
    const { services: jobs } = await composeFile("compose.jobs.yaml");
    expect(asked.get("kafka")).toEqual(Object.keys(services).filter((name) => name.startsWith("kafka")));
    const ours = new Set([...OURS.filter((name) => name !== "topics"), ...Object.keys(jobs)]);
    expect(new Set(asked.get("posthaste"))).toEqual(ours);
    expect(JSON.stringify(alerting)).toContain("alertmanager:9093");
  });

  it("shows the dashboards over the source of data that they name", async () => {
    const { datasources } = parse(await textOf("grafana/provisioning/datasources/prometheus.yaml")) as {
      readonly datasources: readonly [{ readonly uid: string }];
    };
    const { providers } = parse(await textOf("grafana/provisioning/dashboards/posthaste.yaml")) as {
      readonly providers: readonly [{ readonly options: { readonly path: string } }];
    };
    const dashboards = (await readdir(join(DEPLOY, "grafana"))).filter((file) => file.endsWith(".json"));
    expect(dashboards).toHaveLength(4);
    for (const file of dashboards) expect(await textOf(`grafana/${file}`)).toContain(`"uid": "${datasources[0].uid}"`);
    const grafana = (await composeFile("compose.yaml")).services["grafana"];
    expect(grafana?.volumes).toContain(`./grafana:${providers[0].options.path}:ro`);
  });
});
