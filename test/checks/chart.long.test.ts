/**
 * The chart by Helm itself: lint and templates over five sets of values, each object held to Kubernetes's own schemas
 * by kubernetes-validate, and values that are wrong.
 */
import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { providePython } from "../e2e/python.ts";

const run = promisify(execFile);
const CHART = fileURLToPath(new URL("../../deploy/helm/posthaste", import.meta.url));
const CI = join(CHART, "ci");
/** Kinds of operators, which Kubernetes's schemas do not have. */
const OF_OPERATORS = /^(PodMonitor|PrometheusRule|ScaledObject|Kafka\w*)$/;

const helm = process.env["HELM_PATH"] ?? "helm";
const [hasHelm, python] = await Promise.all([
  run(helm, ["version", "--short"]).then(
    () => true,
    () => false,
  ),
  providePython(["kubernetes-validate==1.37.0"]),
]);
const why = hasHelm ? ("missing" in python ? python.missing : "") : "no helm was found: install it, or set HELM_PATH";
const sets = (await readdir(CI)).map((file) => join(CI, file));

interface KubernetesObject {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec?: { readonly template?: { readonly spec: PodSpec } };
}

interface PodSpec {
  readonly automountServiceAccountToken?: boolean;
  readonly containers: readonly { readonly securityContext?: object; readonly resources?: object }[];
}

async function templateOf(...values: readonly string[]): Promise<readonly KubernetesObject[]> {
  const { stdout, stderr } = await run(helm, ["template", "shop", CHART, ...values], { maxBuffer: 20_000_000 });
  expect(stderr).not.toMatch(/warning/i);
  return parseAllDocuments(stdout)
    .map((document) => document.toJS() as KubernetesObject | null)
    .filter((object) => object !== null);
}

/** What Helm says of values that it refuses. */
const refusalOf = (...values: readonly string[]): Promise<string> =>
  templateOf(...values).then(
    () => "it was taken",
    (error: { readonly stderr?: string }) => String(error.stderr),
  );

describe.skipIf(why !== "")(`the chart${why === "" ? "" : ` (skipped: ${why})`}`, () => {
  it.each(sets.map((file) => [basename(file, "-values.yaml"), file]))(
    "is sound with the values %s",
    async (_, file) => {
      await run(helm, ["lint", "--strict", "--values", file, CHART]);
      const objects = await templateOf("--values", file);
      expect(objects.length).toBeGreaterThan(10);
      const own = await mkdtemp(join(tmpdir(), "posthaste-chart-"));
      const files = objects.filter(({ kind }) => !OF_OPERATORS.test(kind));
      const paths = await Promise.all(
        files.map(async (object, index) => {
          const path = join(own, `${index}.json`);
          await writeFile(path, JSON.stringify(object));
          return path;
        }),
      );
      if ("missing" in python) throw new Error(python.missing);
      const failure = await run(join(dirname(python.path), "kubernetes-validate"), ["--strict", ...paths]).then(
        () => "",
        (error: { readonly stdout: string; readonly stderr: string }) => `${error.stdout}${error.stderr}`,
      );
      await rm(own, { recursive: true });
      expect(failure).toBe("");
    },
  );

  it("runs no container as root, with a token of the cluster, or without bounds", async () => {
    for (const file of sets) {
      for (const { kind, metadata, spec } of await templateOf("--values", file)) {
        const pod = spec?.template?.spec;
        if (pod === undefined) continue;
        expect(pod.automountServiceAccountToken, `${kind} ${metadata.name}`).toBe(false);
        for (const { securityContext, resources } of pod.containers) {
          expect(securityContext).toMatchObject({ readOnlyRootFilesystem: true, allowPrivilegeEscalation: false });
          expect(resources).toMatchObject({ limits: { memory: expect.any(String) } });
        }
      }
    }
  });

  it("asks a registry of its own where it has one, whose topics no hook waits for", async () => {
    const objects = await templateOf("--values", join(CI, "strimzi-values.yaml"));
    const text = JSON.stringify(objects);
    expect(text).toContain('{"name":"SCHEMA_REGISTRY_URL","value":"http://shop-registry:8080/apis/ccompat/v7"}');
    expect(text).toContain('{"name":"APICURIO_KAFKASQL_TOPIC_RETENTION_MS","value":"-1"}');
    const named = (kind: string) => objects.filter((each) => each.kind === kind).map(({ metadata }) => metadata.name);
    expect(named("Service")).toContain("shop-registry");
    expect(named("NetworkPolicy")).toContain("shop-registry");
    // A hook runs before the registry that it would wait for.
    expect(named("Job")).toEqual(["shop-topics-1"]);
    expect(JSON.stringify(objects.find(({ kind }) => kind === "Job"))).not.toContain("helm.sh/hook");
  });

  it("says what to change: no brokers, a misspelt setting, a setting of another service", async () => {
    expect(await refusalOf("--set", "schemaRegistry.url=http://r")).toContain("kafka.brokers");
    const [first = ""] = sets;
    const misspelt = await refusalOf("--values", first, "--set", "delivery.settings.POSTHASTE_DELIVERY_WINDOWS=5");
    expect(misspelt).toContain("POSTHASTE_DELIVERY_WINDOWS");
    const others = await refusalOf("--values", first, "--set", "router.settings.POSTHASTE_DELIVERY_WINDOW=5");
    expect(others).toContain("POSTHASTE_DELIVERY_WINDOW");
  });
});
