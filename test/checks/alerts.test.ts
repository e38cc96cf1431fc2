/**
 * The alerts of deploy/prometheus, each with series that fire it and series that nearly do. Prometheus's own
 * `promtool test rules` evaluates them over minutes, hours and days that pass in no time.
 */
import { execFile } from "node:child_process";
import { access, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { PROMTOOL, provideProgram } from "@posthaste/testkit/debian-program";
import { beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { ALERT_CASES, type AlertCase, type Series } from "./alert-cases.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const folder = join(root, "deploy/prometheus");
const RUNBOOKS = join(root, "docs/runbooks");
const PARTS = [
  "Means",
  "Who feels it",
  "First look, 2 minutes",
  "Causes, likeliest first",
  "Stop the bleeding",
  "Afterwards",
  "Not this alert",
];

interface Rule {
  readonly alert: string;
  readonly keep_firing_for?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

const promtool = await provideProgram(PROMTOOL, process.env);
const runProgram = promisify(execFile);
let groups: readonly { readonly name: string; readonly rules: readonly Rule[] }[];

beforeAll(async () => {
  ({ groups } = parse(await readFile(join(folder, "alerts.yml"), "utf8")));
});

const rules = () => groups.flatMap((group) => group.rules);

describe("every alert", () => {
  it("has cases that fire it and nearly do", () => {
    const named = new Set(rules().map(({ alert }) => alert));
    expect(ALERT_CASES.map(({ alert }) => alert).sort()).toEqual([...named].sort());
  });

  it("says whom it is for, what is wrong, and has a runbook", async () => {
    for (const { alert, labels, annotations } of rules()) {
      expect(["page", "ticket", "none"], alert).toContain(labels["severity"]);
      expect(annotations["summary"], alert).toMatch(/\w{3}/);
      await access(join(root, annotations["runbook"] ?? "none"));
    }
  });

  it("that pages goes on for five minutes after its end, and none is the fault of a receiver", () => {
    const paging = rules().filter(({ labels }) => labels["severity"] === "page");
    expect(paging.filter((rule) => rule.keep_firing_for !== "5m")).toEqual([]);
    const theirs = groups.find(({ name }) => name === "posthaste-theirs")?.rules ?? [];
    expect(theirs.length).toBeGreaterThan(0);
    expect(theirs.filter(({ labels }) => labels["severity"] === "page")).toEqual([]);
  });
});

describe("every runbook", () => {
  it("belongs to an alert, and has its parts in their order", async () => {
    const named = new Set(rules().map(({ annotations }) => basename(annotations["runbook"] ?? "")));
    const files = await readdir(RUNBOOKS);
    expect(files.sort()).toEqual([...named].sort());
    for (const file of files) {
      const page = await readFile(join(RUNBOOKS, file), "utf8");
      expect(page.match(/^#+ .*$/gm), file).toEqual([
        `# ${basename(file, ".md")}`,
        ...PARTS.map((part) => `## ${part}`),
      ]);
      for (const [, link = ""] of page.matchAll(/\]\(([\w./]+\.md)\)/g)) await access(join(RUNBOOKS, link));
    }
  });

  it.skipIf("missing" in promtool)("asks Prometheus what it understands", async () => {
    const queries = await Promise.all((await readdir(RUNBOOKS)).map(queriesOf));
    const own = await mkdtemp(join(tmpdir(), "posthaste-queries-"));
    const file = join(own, "queries.json");
    const asked = queries.flat().map((expr, index) => ({ record: `asked:${index}`, expr }));
    expect(asked.length).toBeGreaterThanOrEqual(queries.length);
    await writeFile(file, JSON.stringify({ groups: [{ name: "asked", rules: asked }] }));
    const failure = await runPromtool("check", "rules", "--lint=none", file);
    await rm(own, { recursive: true });
    expect(failure).toBe("");
  });
});

describe("Prometheus", () => {
  it.skipIf("missing" in promtool)(
    `fires each alert where it is to, and not where it nearly is${"missing" in promtool ? ` (${promtool.missing})` : ""}`,
    async () => {
      const own = await mkdtemp(join(tmpdir(), "posthaste-alerts-"));
      const files = await Promise.all(ALERT_CASES.map((each) => writeCases(own, each)));
      const failure = await runPromtool("test", "rules", ...files);
      await rm(own, { recursive: true });
      expect(failure).toBe("");
    },
  );
});

async function queriesOf(file: string): Promise<readonly string[]> {
  const page = await readFile(join(RUNBOOKS, file), "utf8");
  return [...page.matchAll(/^```promql\n(.*?)^```$/gms)].map(([, query = ""]) => query);
}

/** A file of promtool's tests, over the ratios and the one alert: all alerts together take four times as long. */
async function writeCases(own: string, { alert, at, fires, misses }: AlertCase): Promise<string> {
  const [ruleFile, file] = [join(own, `${alert}.rules.json`), join(own, `${alert}.json`)];
  await writeFile(
    ruleFile,
    JSON.stringify({ groups: [{ name: alert, rules: rules().filter((rule) => rule.alert === alert) }] }),
  );
  const tests = [
    evaluation(alert, at, fires, true),
    ...(misses === null ? [] : [evaluation(alert, at, misses, false)]),
  ];
  const rule_files = [join(folder, "rules.yml"), ruleFile];
  await writeFile(file, JSON.stringify({ rule_files, evaluation_interval: "1m", tests }));
  return file;
}

/** One test of promtool's: whether the alert fires at the moment. */
function evaluation(alert: string, at: string, series: Series, fires: boolean) {
  const name = `${alert} ${fires ? "fires" : "does not fire"}`;
  const expr = `count by (alertname) (ALERTS{alertname="${alert}",alertstate="firing"})`;
  const exp_samples = fires ? [{ labels: `{alertname="${alert}"}`, value: 1 }] : [];
  return {
    ...{ name, interval: "1m" },
    input_series: Object.entries({ ...series, up: "1x10" }).map(([each, values]) => ({ series: each, values })),
    promql_expr_test: [{ expr, eval_time: at, exp_samples }],
  };
}

/** The output of a run that failed; the empty text otherwise. */
async function runPromtool(...words: readonly string[]): Promise<string> {
  if ("missing" in promtool) return promtool.missing;
  try {
    await runProgram(promtool.path, words);
    return "";
  } catch (error) {
    const { stdout, stderr } = error as { readonly stdout: string; readonly stderr: string };
    return `${stdout}${stderr}`;
  }
}
