/**
 * npm run check:api: schemathesis (PyPI) against the OpenAPI document, 2,000 examples and its coverage of the schemas:
 * no 5xx, no answer outside the document, nothing taken that the document forbids. `SCHEMATHESIS` names the program.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { startTestGateway, WRITE_KEY } from "./test-gateway.ts";

const EXAMPLES = 2_000;
const MISSING = `schemathesis is not installed. Install it with:
  python3 -m venv .venv && .venv/bin/pip install schemathesis
and run: SCHEMATHESIS=.venv/bin/st npm run check:api
`;

const named = process.env["SCHEMATHESIS"];
const program = named === undefined ? "st" : resolve(process.env["INIT_CWD"] ?? ".", named);
const gateway = await startTestGateway({ maxPendingBytes: Number.MAX_SAFE_INTEGER });
// What is sent is of no interest here, and would fill the memory.
const forget = setInterval(() => gateway.producer.sent.splice(0), 100);
try {
  process.exitCode = await runSchemathesis();
} finally {
  clearInterval(forget);
  await gateway.close();
}

async function runSchemathesis(): Promise<number> {
  const document = `${gateway.url}/openapi.json`;
  const { paths } = (await (await fetch(document)).json()) as { paths: object };
  const perOperation = Math.ceil(EXAMPLES / Object.keys(paths).length);
  const key = Buffer.from(`${WRITE_KEY}:`).toString("base64");
  const options = [
    "--header",
    `Authorization: Basic ${key}`,
    "--max-examples",
    String(perOperation),
    "--continue-on-failure",
  ];
  const child = spawn(program, ["run", document, ...options], {
    stdio: ["ignore", "inherit", "inherit"],
    // It leaves a cache where it runs.
    cwd: mkdtempSync(join(tmpdir(), "check-api-")),
  });
  try {
    const [code] = await once(child, "exit");
    return Number(code ?? 1);
  } catch {
    process.stderr.write(MISSING);
    return 1;
  }
}
