/** A real Prometheus with the rules of `deploy/prometheus`, over the processes of an installation. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { findFreePorts } from "@posthaste/local-stack/ports";

const RULES = fileURLToPath(new URL("../../deploy/prometheus/", import.meta.url));

export interface PrometheusOptions {
  /** The program. */
  readonly path: string;
  /** The services with the addresses of their metrics. */
  readonly targets: readonly (readonly [service: string, metricsUrl: string])[];
  /** The files of `deploy/prometheus`. */
  readonly ruleFiles: readonly string[];
}

export interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [number, string];
}

export interface Prometheus {
  readonly url: string;
  /** The series that answer an expression now. Throws for an expression that is wrong. */
  readonly query: (expression: string) => Promise<readonly Series[]>;
  readonly close: () => Promise<void>;
}

export async function startPrometheus({ path, targets, ruleFiles }: PrometheusOptions): Promise<Prometheus> {
  const folder = await mkdtemp(join(tmpdir(), "posthaste-prometheus-"));
  await mkdir(join(folder, "data"));
  const scraped = targets.map(([service, url]) => ({ targets: [new URL(url).host], labels: { service } }));
  const config = {
    global: { scrape_interval: "1s", evaluation_interval: "1s" },
    rule_files: ruleFiles.map((file) => join(RULES, file)),
    scrape_configs: [{ job_name: "posthaste", honor_labels: true, static_configs: scraped }],
  };
  await writeFile(join(folder, "prometheus.yml"), JSON.stringify(config));
  const [port = 0] = await findFreePorts(1);
  const words = ["config.file=prometheus.yml", "storage.tsdb.path=data", `web.listen-address=127.0.0.1:${port}`];
  const flags = [...words.map((word) => `--${word}`), "--log.level=error"];
  const server = spawn(path, flags, { cwd: folder, stdio: "ignore" });
  const exited = once(server, "exit");
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    query: async (expression) => {
      const answer = await fetch(`${url}/api/v1/query?${new URLSearchParams({ query: expression })}`);
      const { data, error } = (await answer.json()) as { data?: { result: Series[] }; error?: string };
      if (data === undefined) throw new Error(`${error}: ${expression}`);
      return data.result;
    },
    close: async () => {
      server.kill();
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
