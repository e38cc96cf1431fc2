import { describe, expect, it } from "vitest";
import { readCommandSettings } from "./settings.ts";

const read = (args: readonly string[] = [], env: Record<string, string> = {}) =>
  readCommandSettings(args, env, "/clone");

describe("without arguments and environment", () => {
  it("has the published ports, a data folder in the clone, one broker, the demonstration, loopback", () => {
    expect(read()).toEqual({
      help: false,
      demo: true,
      brokers: 1,
      secure: false,
      ports: { ingest: 8080, control: 8090, admin: { ingest: 9101, router: 9102, delivery: 9103, control: 9104 } },
      dataDir: "/clone/.posthaste",
      adminToken: undefined,
      allowNetworks: "127.0.0.0/8,::1/128",
    });
  });
});

describe("arguments", () => {
  it("take the size of the cluster after a space or an equals sign", () => {
    expect(read(["--brokers", "3"]).brokers).toBe(3);
    expect(read(["--brokers=3", "--no-demo"])).toMatchObject({ brokers: 3, demo: false });
  });

  it("take --secure", () => {
    expect(read(["--secure"])).toMatchObject({ secure: true, demo: true, brokers: 1 });
  });

  it.each([[["--brokers", "2"]], [["--brokers"]], [["--no-demon"]], [["start"]]])("refuse %j", (args) => {
    expect(() => read(args)).toThrow(/--brokers: expected 1 or 3|unknown option/);
  });
});

describe("environment", () => {
  it("moves the ports, so that two copies run side by side", () => {
    const { ports } = read([], {
      POSTHASTE_INGEST_PORT: "18080",
      POSTHASTE_CONTROL_PORT: "18090",
      POSTHASTE_METRICS_PORT: "19101",
    });
    expect(ports).toMatchObject({ ingest: 18080, control: 18090, admin: { ingest: 19101, control: 19104 } });
  });

  it.each(["0", "65536", "80a", "-1"])("refuses %j as a port, naming the variable and what was expected", (value) => {
    expect(() => read([], { POSTHASTE_INGEST_PORT: value })).toThrow(
      `POSTHASTE_INGEST_PORT: expected a port from 1 to 65535, got ${value}`,
    );
  });

  it.each([
    ["KAFKA_BROKERS", "SCHEMA_REGISTRY_URL"],
    ["SCHEMA_REGISTRY_URL", "KAFKA_BROKERS"],
  ])("refuses %s without %s, and takes both or neither", (set, lacking) => {
    expect(() => read([], { [set]: "x" })).toThrow(`${set} is set: set ${lacking} too, or neither`);
    expect(() => read([], { [set]: "x", [lacking]: "" })).toThrow(`${set} is set: set ${lacking} too, or neither`);
    expect(() => read([], { [set]: "x", [lacking]: "y" })).not.toThrow();
  });

  it.each([
    "KAFKA_TLS",
    "KAFKA_TLS_CA_FILE",
    "KAFKA_SASL_MECHANISM",
    "KAFKA_SASL_PASSWORD_FILE",
    "KAFKA_SSL_CA",
    "SCHEMA_REGISTRY_CA_FILE",
    "SCHEMA_REGISTRY_USERNAME",
  ])("refuses %s without a cluster to use it for, and says what to change", (name) => {
    expect(() => read([], { [name]: "hunter2" })).toThrow(
      `${name} is set, and KAFKA_BROKERS is not: it is for a cluster of yours. Set KAFKA_BROKERS and ` +
        `SCHEMA_REGISTRY_URL too, or unset ${name} (--secure gives the cluster that is started here TLS and logins)`,
    );
    expect(() => read([], { [name]: "" })).not.toThrow();
    expect(() => read([], { [name]: "x", KAFKA_BROKERS: "a:1", SCHEMA_REGISTRY_URL: "http://b" })).not.toThrow();
  });

  it("names every setting of a connection that is without a cluster, and repeats the value of none", () => {
    const readBoth = () => read([], { KAFKA_TLS: "true", KAFKA_SASL_PASSWORD: "hunter2" });
    expect(readBoth).toThrow("unset KAFKA_SASL_PASSWORD, KAFKA_TLS");
    expect(readBoth).not.toThrow("hunter2");
  });

  it("leaves room for four ports from POSTHASTE_METRICS_PORT on", () => {
    expect(() => read([], { POSTHASTE_METRICS_PORT: "65533" })).toThrow("from 1 to 65532");
  });

  it("refuses a retry schedule or window that is no duration before anything is started", () => {
    expect(() => read([], { POSTHASTE_RETRY_SCHEDULE: "10s,30" })).toThrow(
      "POSTHASTE_RETRY_SCHEDULE: expected durations such as 250ms, 10s, 5m or 4h, got 10s,30",
    );
    expect(() => read([], { POSTHASTE_RETRY_WINDOW: "4 hours" })).toThrow("POSTHASTE_RETRY_WINDOW: expected durations");
    expect(() => read([], { POSTHASTE_RETRY_SCHEDULE: "10s,1m", POSTHASTE_RETRY_WINDOW: "4h" })).not.toThrow();
  });

  it.each(["127.0.0.1", "10.0.0.0/33", "fd00::/129", "localhost/8", "10.0.0.0/8;::1/128"])(
    "refuses the networks %j before anything is started",
    (text) => {
      for (const name of ["POSTHASTE_ALLOW_NETWORKS", "POSTHASTE_DENY_NETWORKS"]) {
        expect(() => read([], { [name]: text })).toThrow(
          `${name}: expected CIDRs divided by commas, such as 127.0.0.0/8,::1/128, got ${text}`,
        );
      }
    },
  );

  it("takes networks of both families with spaces between them", () => {
    const text = "10.0.0.0/8, fd00::/8,";
    expect(read([], { POSTHASTE_ALLOW_NETWORKS: text }).allowNetworks).toBe(text);
  });

  it("refuses what is no list of ports before anything is started", () => {
    for (const text of ["http", "0", "65536", "80;443"]) {
      expect(() => read([], { POSTHASTE_WEBHOOK_PORTS: text })).toThrow(
        `POSTHASTE_WEBHOOK_PORTS: expected ports from 1 to 65535 divided by commas, such as 80,443, got ${text}`,
      );
    }
    expect(() => read([], { POSTHASTE_WEBHOOK_PORTS: "80, 443," })).not.toThrow();
  });

  it("refuses an admin token that cannot travel in a header, and does not repeat it", () => {
    const readToken = () => read([], { POSTHASTE_ADMIN_TOKEN: "open sesame" });
    expect(readToken).toThrow("POSTHASTE_ADMIN_TOKEN: expected a token of printable ASCII without spaces");
    expect(readToken).not.toThrow("sesame");
  });

  it("refuses one port for two listeners", () => {
    expect(() => read([], { POSTHASTE_INGEST_PORT: "8090" })).toThrow(
      "POSTHASTE_CONTROL_PORT: 8090 is POSTHASTE_INGEST_PORT too",
    );
    expect(() => read([], { POSTHASTE_CONTROL_PORT: "9103" })).toThrow(
      "POSTHASTE_CONTROL_PORT: 9103 is one of the four ports from POSTHASTE_METRICS_PORT (9101) on",
    );
  });

  it("takes a data folder as it is when absolute and from the clone when not", () => {
    expect(read([], { POSTHASTE_DATA_DIR: "/data" }).dataDir).toBe("/data");
    expect(read([], { POSTHASTE_DATA_DIR: "other" }).dataDir).toBe("/clone/other");
  });
});
