import { createHmac } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { eventually } from "@posthaste/testkit/eventually";
import { type Receiver, startReceiver } from "@posthaste/testkit/receiver";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { useCommand } from "./harness.ts";

const command = useCommand();

const MAKE = "POST /v1/test-receivers";
const LOOK = "GET /v1/test-receivers/rcv_1";
const RECEIVER = { id: "rcv_1", url: "http://127.0.0.1:8090/receive/rcv_1" };
const SECRET = "secret-of-the-file";
/** Not UTF-8, so that a reader that takes it for text changes it. */
const BODY = Buffer.from([0x7b, 0xff, 0x00, 0x7d]);
const request = (seq: number, differing: object = {}) => ({
  ...{ seq, time: "2026-11-22T10:00:00.000Z", method: "POST", bodyBase64: BODY.toString("base64"), bytes: BODY.length },
  headers: {
    ...{ "content-type": "application/json", "x-message-id": `m-${seq}`, host: "127.0.0.1:8090", "x-team": "***" },
    "x-signature": createHmac("sha1", SECRET).update(BODY).digest("hex"),
  },
  signature: "unchecked",
  ...differing,
});
const answerOf = (requests: readonly object[], received = requests.length) => ({
  status: 200,
  body: JSON.stringify({ ...RECEIVER, received, requests }),
});

let mine: Receiver;
beforeAll(async () => {
  mine = await startReceiver();
});
afterAll(() => mine.close());
beforeEach(() => {
  mine.clear();
  command.control.script(MAKE, RECEIVER, 201);
});

describe("listen", () => {
  it("prints the URL, says that it is ready, and shows each request once with its signature", async () => {
    command.control.scriptRequest(LOOK, ({ target }) => {
      const after = Number(new URL(target, "http://x").searchParams.get("after"));
      return answerOf(
        [request(1), request(2)].filter(({ seq }) => seq > after),
        2,
      );
    });
    await writeFile(join(command.dir, "secret.txt"), `${SECRET}\n`);
    await writeFile(join(command.dir, "other.txt"), "another-secret\n");
    const reported = await command.posthaste(["listen", "--count", "2", "--shared-secret-file", "secret.txt"]);
    expect([reported.code, reported.stdout]).toEqual([
      0,
      [
        RECEIVER.url,
        "2026-11-22T10:00:00.000Z\tPOST\t4\tm-1\tvalid\t",
        "2026-11-22T10:00:00.000Z\tPOST\t4\tm-2\tvalid\t\n",
      ].join("\n"),
    ]);
    expect(reported.stderr).toMatch(/^ready: /);
    const other = await command.posthaste(["listen", "--count", "1", "--shared-secret-file", "other.txt"]);
    expect(other.stdout).toContain("\tinvalid\t");
    expect((await command.posthaste(["listen", "--count", "1"])).stdout).toContain("\tunchecked\t");
  });

  it("asks for what the receiver is to answer, and by whose secret to check", async () => {
    command.control.scriptRequest(LOOK, () => answerOf([request(1)]));
    const options = ["--destination-id", "dst_1", "--status", "503", "--delay", "2s", "--count", "1"];
    expect((await command.posthaste(["listen", ...options])).code).toBe(0);
    const made = command.control.requests.find(({ method }) => method === "POST");
    expect(JSON.parse(String(made?.body))).toEqual({ destinationId: "dst_1", status: 503, delayMs: 2000 });
  });

  it("forwards each request byte for byte, and says what its receiver answered", async () => {
    command.control.scriptRequest(LOOK, () => answerOf([request(1)]));
    mine.script("/hook", { status: 418 });
    const url = `${mine.url}/hook?a=1`;
    const { stdout } = await command.posthaste(["listen", "--forward-to", url, "--count", "1", "--json"]);
    const [made, shown] = stdout.trim().split("\n");
    expect(JSON.parse(made ?? "")).toEqual(RECEIVER);
    expect(JSON.parse(shown ?? "")).toMatchObject({ seq: 1, messageId: "m-1", forwarded: 418 });
    const [forwarded] = mine.requests;
    expect(forwarded).toMatchObject({ method: "POST", target: "/hook?a=1", body: BODY });
    expect(forwarded?.headers).toMatchObject({
      ...{ "content-type": "application/json", "x-message-id": "m-1", host: new URL(mine.url).host },
      "x-signature": request(1).headers["x-signature"],
    });
    expect(forwarded?.headers["x-team"]).toBeUndefined();
  });

  it("says what came of a receiver that is not there, redirects, or gets what was cut", async () => {
    const forwardedOf = async (url: string, differing: object = {}) => {
      command.control.scriptRequest(LOOK, () => answerOf([request(1, differing)]));
      const { stdout } = await command.posthaste(["listen", "--forward-to", url, "--count", "1", "--json"]);
      return JSON.parse(stdout.trim().split("\n")[1] ?? "").forwarded;
    };
    const gone = await startReceiver();
    await gone.close();
    expect(await forwardedOf(gone.url)).toContain("ECONNREFUSED");
    mine.script("/moved", { status: 307, headers: { location: `${mine.url}/hook` } });
    expect(await forwardedOf(`${mine.url}/moved`)).toBe(307);
    expect(mine.requestsTo("/hook")).toEqual([]);
    expect(await forwardedOf(`${mine.url}/cut`, { bytes: 70_000 })).toBe("too large to forward");
    expect(mine.requestsTo("/cut")).toEqual([]);
    const { code } = await command.posthaste(["listen", "--forward-to", "ftp://x"]);
    expect(code).toBe(2);
  });

  it("goes on after control was gone, and has its receiver back where control has forgotten it", async () => {
    command.control.scriptRequest(LOOK, ({ attempt }) => {
      if (attempt === 1) return answerOf([request(1)]);
      if (attempt === 2) return { status: 503, body: JSON.stringify({ detail: "not now" }) };
      if (attempt === 3) return { status: 404, body: JSON.stringify({ detail: "there is no test receiver" }) };
      return answerOf([request(1, { time: "later" })]);
    });
    const { code, stdout, stderr } = await command.posthaste(["listen", "--count", "2", "--json"]);
    expect(code).toBe(0);
    expect(
      stdout
        .trim()
        .split("\n")
        .slice(1)
        .map((line) => JSON.parse(line).time),
    ).toEqual(["2026-11-22T10:00:00.000Z", "later"]);
    expect(stderr).toMatch(/lost connection: not now\n.*made again at http:\S+\nagain since 20\S+Z\n$/s);
    const made = command.control.requests.filter(({ method }) => method === "POST");
    expect(made.map(({ body }) => JSON.parse(String(body)).id)).toEqual([undefined, "rcv_1"]);
  });

  it("ends with 5 when control is gone for longer than --give-up", async () => {
    command.control.script(LOOK, { detail: "not now" }, 503);
    const { code, stderr } = await command.posthaste(["listen", "--give-up", "500ms"]);
    expect([code, stderr]).toEqual([5, expect.stringMatching(/lost connection: not now\nposthaste: not now\n$/)]);
  });

  it("ends with 130 by Ctrl-C", async () => {
    command.control.scriptRequest(LOOK, () => answerOf([]));
    const { code } = await command.posthaste(["listen"], {
      during: async (pid) => {
        await eventually(() => expect(command.control.requests.length).toBeGreaterThan(1));
        process.kill(pid, "SIGINT");
      },
    });
    expect(code).toBe(130);
  });
});
