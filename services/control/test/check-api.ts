/**
 * npm run check:api: schemathesis (PyPI) against the OpenAPI document, by nobody, by a token of each scope and by one
 * of all: no 5xx, no answer outside the document, nothing done without a token, nothing beyond a scope. Needs a broker
 * and a registry, by `KAFKA_BROKERS` and `SCHEMA_REGISTRY_URL`. `SCHEMATHESIS` names the program.
 */
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SCOPES } from "@posthaste/core/access/scope";
import { scopesOf } from "@posthaste/http-kit/caller";
import { createTestTopics } from "@posthaste/testbed/test-topics";
import { runSchemathesis } from "@posthaste/testkit/schemathesis";
import { ROUTE_NEEDS } from "../src/configuration/access/route-needs.ts";
import { readOpenApi, startTestControl, type TestControl } from "./control.ts";

const EXAMPLES = process.argv[2] ?? "20";
/** Left out: a stream has no end, and ten wrong codes shut the address out. */
const OPTIONS = [
  ...["--exclude-operation-id", "openLive", "--exclude-operation-id", "openSession"],
  ...["--phases", "examples,coverage,fuzzing", "--max-examples", EXAMPLES, "--continue-on-failure"],
  "--checks",
  "not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,response_schema_conformance",
];

/** How often each operation was done, and how many requests failed of all. */
async function counted({ registry }: TestControl) {
  const requests = await registry.getSingleMetric("posthaste_control_requests_total")?.get();
  const failures = await registry.getSingleMetric("posthaste_control_failures_total")?.get();
  const done = (requests?.values ?? []).filter(({ labels, value }) => labels["answer"] === "done" && value > 0);
  const failed = failures?.values.reduce((sum, { value }) => sum + value, 0) ?? 0;
  return { done: new Set(done.map(({ labels }) => String(labels["operation"]))), failed };
}

/** Returns whether schemathesis found nothing, and nothing was done that the caller may not have done. */
async function checkBy(control: TestControl, scopes: readonly string[], token: string | null): Promise<boolean> {
  const header = token === null ? [] : ["--header", `Authorization: Bearer ${token}`];
  const code = await runSchemathesis({
    document: await describedTo(control),
    args: ["--url", control.url, ...header, ...OPTIONS],
    command: "npm run check:api -w services/control",
  });
  const { done, failed } = await counted(control);
  const beyond = [...done].filter((operation) => {
    const need = ROUTE_NEEDS[operation] ?? "none";
    const isAny = need === "none" || (token !== null && need === "any");
    return !isAny && !scopesOf(need).some((each) => scopes.includes(each));
  });
  const caller = token === null ? "no token" : scopes.join(", ");
  const found = `${done.size} operations done, beyond its scopes ${beyond.length === 0 ? "none" : beyond.join(", ")}`;
  process.stdout.write(`\nwith ${caller}: ${found}; ${failed} failures; schemathesis ended with ${code}\n\n`);
  return code === 0 && beyond.length === 0 && failed === 0;
}

interface Described {
  readonly responses: Record<string, object>;
}

/** With the answer to a head that is too large, which never becomes a request of a path: any path can get it. */
async function describedTo(control: TestControl): Promise<string> {
  const { body } = await readOpenApi(control);
  const paths: Readonly<Record<string, Readonly<Record<string, Described>>>> = body.paths;
  for (const { responses } of Object.values(paths).flatMap((methods) => Object.values(methods)))
    responses["431"] = { description: "The head is too large." };
  const path = join(mkdtempSync(join(tmpdir(), "check-api-")), "openapi.json");
  writeFileSync(path, JSON.stringify(body));
  return path;
}

const topics = await createTestTopics("control");
/** Generated requests name arbitrary URLs: control must reach none of them. */
const start = () => startTestControl(topics, { env: { POSTHASTE_DENY_NETWORKS: "0.0.0.0/0,::/0" } });
const maker = await start();
const callers: { scopes: readonly string[]; token: string | null }[] = [{ scopes: [], token: null }];
for (const scopes of [...SCOPES.map((scope) => [scope]), SCOPES]) {
  const { body } = await maker.call("POST", "/v1/tokens", { name: "check", scopes });
  callers.push({ scopes, token: body.token });
}
await maker.stop();
let isFine = true;
for (const { scopes, token } of callers) {
  // Of its own: wrong tokens of one caller shut out no other.
  const control = await start();
  try {
    isFine = (await checkBy(control, scopes, token)) && isFine;
  } finally {
    await control.stop();
  }
}
await topics.remove();
if (!isFine) process.exitCode = 1;
