/**
 * npm run check:api: schemathesis (PyPI) against the OpenAPI document, 2,000 examples and its coverage of the schemas:
 * no 5xx, no answer outside the document, nothing taken that the document forbids. `SCHEMATHESIS` names the program.
 */
import { runSchemathesis } from "@posthaste/testkit/schemathesis";
import { startTestGateway, WRITE_KEY } from "./test-gateway.ts";

const EXAMPLES = 2_000;

const gateway = await startTestGateway({ maxPendingBytes: Number.MAX_SAFE_INTEGER });
// The sent records are of no interest here, and would fill the memory.
const forget = setInterval(() => gateway.producer.sent.splice(0), 100);
try {
  const document = `${gateway.url}/openapi.json`;
  const { paths } = (await (await fetch(document)).json()) as { paths: object };
  const perOperation = Math.ceil(EXAMPLES / Object.keys(paths).length);
  const key = Buffer.from(`${WRITE_KEY}:`).toString("base64");
  const args = [
    ...["--header", `Authorization: Basic ${key}`],
    ...["--max-examples", String(perOperation), "--continue-on-failure"],
  ];
  process.exitCode = await runSchemathesis({ document, args, command: "npm run check:api -w services/ingest" });
} finally {
  clearInterval(forget);
  await gateway.close();
}
