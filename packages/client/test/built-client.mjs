// The published package under the Node that runs this: `npm run build -w @posthaste/client`, then `node
// packages/client/test/built-client.mjs` with Node 18 or later. Plain JavaScript without dependencies, since the tests'
// own tools want a newer Node. Exits with 1 when it fails.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { gunzipSync } from "node:zlib";
import { Analytics } from "../dist/index.js";

/** Calls by kind, in the order of their coming; the first request is answered with 503. */
const kinds = [];
let requests = 0;
const server = createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  requests += 1;
  response.statusCode = requests === 1 ? 503 : 200;
  if (requests > 1) kinds.push(...JSON.parse(gunzipSync(Buffer.concat(chunks))).batch.map(({ type }) => type));
  response.end('{"success": true}');
});
await once(server.listen(0, "127.0.0.1"), "listening");

const failures = [];
const endpoint = `http://127.0.0.1:${server.address().port}`;
const client = new Analytics({ writeKey: "KEY", endpoint, gzip: true, onError: (error) => failures.push(error.code) });
client.identify({ userId: "u1", traits: { plan: "pro" } });
client.track({ userId: "u1", event: "Order Completed" });
client.alias({ userId: "u1", previousId: "a1" });
assert.throws(() => client.track({ userId: "u1" }), { code: "missing_field" });
await client.close();
server.close();
assert.deepEqual({ kinds, failures, requests }, { kinds: ["identify", "track", "alias"], failures: [], requests: 2 });
