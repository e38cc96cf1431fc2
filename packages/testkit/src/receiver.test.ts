import { afterEach, expect, it } from "vitest";
import { eventually } from "./eventually.ts";
import { type Receiver, type ReceiverOptions, startReceiver } from "./receiver.ts";

let receiver: Receiver | undefined;

afterEach(async () => {
  await receiver?.close();
  receiver = undefined;
});

async function start(options: ReceiverOptions = {}): Promise<Receiver> {
  receiver = await startReceiver(options);
  return receiver;
}

const post = (url: string, body = "{}") => fetch(url, { method: "POST", body, headers: { "X-Kept": "As Sent" } });

it("RV1: records a request before it answers, with its headers, query and exact bytes", async () => {
  const { url, requests } = await start();
  const response = await post(`${url}/hook?a=1`, '{"é":1}');
  expect(response.status).toBe(200);
  expect(requests).toHaveLength(1);
  expect(requests[0]).toMatchObject({ method: "POST", path: "/hook", target: "/hook?a=1", attempt: 1 });
  expect(requests[0]?.headers["x-kept"]).toBe("As Sent");
  expect(requests[0]?.body.toString()).toBe('{"é":1}');
});

it("RV2: answers each path by its own script, the last answer for good", async () => {
  const target = await start({ script: { status: 204 } });
  target.script("/flaky", [
    { status: 503, headers: { "retry-after": "1" } },
    { status: 200, body: "fine" },
  ]);
  const first = await post(`${target.url}/flaky`);
  expect([first.status, first.headers.get("retry-after")]).toEqual([503, "1"]);
  expect(await (await post(`${target.url}/flaky`)).text()).toBe("fine");
  expect((await post(`${target.url}/flaky`)).status).toBe(200);
  expect((await post(`${target.url}/other`)).status).toBe(204);
  expect(target.requestsTo("/flaky").map((request) => request.attempt)).toEqual([1, 2, 3]);
});

it("lets a function decide from the request", async () => {
  const { url } = await start({ script: ({ body }) => ({ status: body.includes("bad") ? 400 : 201 }) });
  expect((await post(url, "bad")).status).toBe(400);
  expect((await post(url, "good")).status).toBe(201);
});

it("answers when what it is told to wait for is over", async () => {
  const { url, requests } = await start({ script: () => ({ until: over.promise, status: 201 }) });
  const over = Promise.withResolvers<void>();
  let status = 0;
  const answered = post(url).then((response) => {
    status = response.status;
  });
  await eventually(() => expect(requests).toHaveLength(1));
  expect(status).toBe(0);
  over.resolve();
  await answered;
  expect(status).toBe(201);
});

it("destroys the socket when told to", async () => {
  const { url } = await start({ script: { fault: "reset" } });
  await expect(post(url)).rejects.toThrow("fetch failed");
});

it("counts the connections that are open", async () => {
  const over = Promise.withResolvers<void>();
  const { url, connections } = await start({ script: { until: over.promise } });
  expect(await connections()).toBe(0);
  const asking = fetch(url, { headers: { connection: "close" } });
  await eventually(async () => expect(await connections()).toBe(1));
  over.resolve();
  await (await asking).text();
  await eventually(async () => expect(await connections()).toBe(0));
});

it("sends headers without ever ending the body when told to", async () => {
  const { url } = await start({ script: { fault: "headers-only", status: 202 } });
  const response = await post(url);
  expect(response.status).toBe(202);
  await response.body?.cancel();
});

it("RV3: closes while a request hangs", async () => {
  const target = await start({ script: { fault: "hang" } });
  const hanging = post(target.url).then(
    () => "answered",
    () => "cut",
  );
  await expect.poll(() => target.requests.length).toBe(1);
  await target.close();
  expect(await hanging).toBe("cut");
});
