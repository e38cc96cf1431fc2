/** The files for Docker Compose by `config` of Compose itself, which needs no engine, alone and over one another. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";

const run = promisify(execFile);
const DEPLOY = fileURLToPath(new URL("../../deploy/", import.meta.url));
const SECRETS = { POSTHASTE_ADMIN_TOKEN: "token", POSTHASTE_SECRET_KEYS: "k1:key", KAFKA_SASL_PASSWORD: "word" };

interface Configured {
  readonly services: Readonly<
    Record<string, { readonly ports?: readonly unknown[]; readonly volumes?: readonly { readonly target: string }[] }>
  >;
}

/** `COMPOSE_PATH`, else the standalone program, else the plugin of Docker. */
async function findCompose(): Promise<readonly [string, ...string[]] | undefined> {
  const named = process.env["COMPOSE_PATH"];
  for (const command of [...(named ? [[named] as const] : []), ["docker-compose"], ["docker", "compose"]] as const) {
    const [program, ...words] = command;
    const found = await run(program, [...words, "version"]).then(
      () => true,
      () => false,
    );
    if (found) return [program, ...words];
  }
  return undefined;
}

const compose = await findCompose();
const why = compose === undefined ? "no docker-compose was found: install it, or set COMPOSE_PATH" : "";
if (why !== "") process.stdout.write(`skipped: compose: ${why}\n`);

async function configOf(...files: readonly string[]): Promise<Configured> {
  const [program = "", ...words] = compose ?? [];
  const named = ["compose.yaml", ...files].flatMap((file) => ["-f", `${DEPLOY}${file}`]);
  const { stdout, stderr } = await run(program, [...words, ...named, "config", "--format", "json"], {
    env: { PATH: process.env["PATH"], HOME: process.env["HOME"], ...SECRETS },
    maxBuffer: 8_000_000,
  });
  expect(stderr).toBe("");
  return JSON.parse(stdout) as Configured;
}

describe.skipIf(why !== "")(`compose${why === "" ? "" : ` (skipped: ${why})`}`, () => {
  it.each([
    ["alone", []],
    ["with control divided", ["compose.jobs.yaml"]],
    ["with three brokers", ["compose.three.yaml"]],
    ["over TLS", ["compose.tls.yaml"]],
    ["with three brokers and control divided", ["compose.three.yaml", "compose.jobs.yaml"]],
  ])("is read %s", async (_, files) => {
    const { services } = await configOf(...files);
    expect(Object.keys(services).length).toBeGreaterThanOrEqual(10);
    expect(services["control-jobs"]?.ports ?? []).toEqual([]);
    // Settings that a broker of three takes over from the one.
    for (const [name, { volumes = [] }] of Object.entries(services)) {
      const targets = volumes.map(({ target }) => target);
      if (/^kafka(-\d)?$/.test(name))
        expect(targets).toEqual(expect.arrayContaining(["/opt/jmx/rules.yml", "/var/lib/kafka/data"]));
      expect([name, new Set(targets).size]).toEqual([name, targets.length]);
    }
  });

  it("is not read without the secrets, which it names", async () => {
    const [program = "", ...words] = compose ?? [];
    const read = run(program, [...words, "-f", `${DEPLOY}compose.yaml`, "config"], {
      env: { PATH: process.env["PATH"] },
    });
    await expect(read).rejects.toThrow(/POSTHASTE_(ADMIN_TOKEN|SECRET_KEYS)/);
  });
});
