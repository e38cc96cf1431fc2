/** The parts are the test's own where they decide, so that nothing here hangs on the order of events. */
import { EventEmitter } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { gzipSync } from "node:zlib";
import { eventually } from "@posthaste/testkit/eventually";
import { expect, it } from "vitest";
import { type Refusal, rateLimited, unauthorized, unavailable } from "../answer/answer.ts";
import { createBodyOpener } from "../body/decompress.ts";
import { createBodyReader } from "../body/read-body.ts";
import type { WorkQueue } from "../fairness/work-queue.ts";
import { createClientAddresses } from "../http/client-address.ts";
import { CROWD_INFLATED_BYTES } from "../limits.ts";
import { createTakeCalls, type TakeCallsParts } from "./take-calls.ts";

const CROWD_ADDRESS = "203.0.113.1";

/** Every piece is done as it comes; one address is a crowd. */
const work: Pick<WorkQueue, "run" | "isCrowd"> = {
  run: (_sender, piece) => piece(),
  isCrowd: (address) => address === CROWD_ADDRESS,
};

const UNKNOWN_KEY = unauthorized("invalid_write_key", "No source has this key.");
const OVER_LIMIT = rateLimited(1, "This source sends more than it may.");

const same = (refusal: Refusal) => refusal;

/** No source has a key, but for the one in the query, which has sent more than it may. */
function createParts(lagging: Refusal | null): TakeCallsParts {
  const parts = {
    admission: { ofAnybody: () => lagging, ofWork: () => null, ofSource: () => OVER_LIMIT },
    authenticator: {
      authenticate: ([key]: readonly string[]) =>
        key === "known" ? { source: { id: "src" } } : { refusal: UNKNOWN_KEY },
      known: (key: string) => (key === "known" ? { source: { id: "src" } } : { refusal: UNKNOWN_KEY }),
    },
    addresses: createClientAddresses(["127.0.0.1"]),
    bodies: createBodyReader({ monotonicMs: () => 0 }),
    opener: createBodyOpener(),
    refusals: { refuse: same, count: same, tellLater: (refusal: Refusal) => Promise.resolve(refusal) },
    work,
  };
  // A refused request comes to no other part.
  return parts as unknown as TakeCallsParts;
}

interface Sent {
  readonly queryKey?: string;
  /** The refusal that everybody gets. */
  readonly lagging?: Refusal;
  readonly parts?: TakeCallsParts;
}

function send(content: string, from: string, { queryKey, lagging, parts = createParts(lagging ?? null) }: Sent = {}) {
  const request = Object.assign(Readable.from([gzipSync(content)]), {
    headers: { "content-encoding": "gzip", "x-forwarded-for": from },
    socket: { remoteAddress: "127.0.0.1" },
  });
  const response = new EventEmitter() as ServerResponse;
  const takeCalls = createTakeCalls(parts);
  return takeCalls(request as unknown as IncomingMessage, response, { form: "batch", queryKey: queryKey ?? null });
}

it("TC4: of an address that is a crowd a larger body is asked for again, of others it is looked into", async () => {
  const small = "x".repeat(CROWD_INFLATED_BYTES);
  const large = "x".repeat(CROWD_INFLATED_BYTES + 1);
  expect(await send(large, CROWD_ADDRESS)).toMatchObject({ answer: { status: 503, retryAfterS: 1 } });
  expect((await send(small, CROWD_ADDRESS)).answer).toBe(UNKNOWN_KEY);
  expect((await send(large, "203.0.113.2")).answer).toBe(UNKNOWN_KEY);
});

it("says whose a request is that is refused for what is sent, and of nobody's that it is nobody's", async () => {
  expect(await send("", "203.0.113.2", { queryKey: "known" })).toEqual({ answer: OVER_LIMIT, sourceId: "src" });
  expect(await send("", "203.0.113.2", { queryKey: "other" })).toEqual({ answer: UNKNOWN_KEY, sourceId: null });
  const lagging = unavailable("unavailable", "Send again.");
  expect(await send("", "203.0.113.2", { queryKey: "known", lagging })).toEqual({ answer: lagging, sourceId: "src" });
  expect(await send("", "203.0.113.2", { lagging })).toEqual({ answer: lagging, sourceId: null });
});

it("TC3: what was inflated to find a key is not held while the table of sources is waited for", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const refreshed = Promise.withResolvers<{ readonly refusal: Refusal }>();
  const waiting: WeakRef<Buffer>[] = [];
  const parts = createParts(null);
  const opener: TakeCallsParts["opener"] = {
    ...parts.opener,
    openForKey: () => {
      const content = Buffer.alloc(500_000, " ");
      waiting.push(new WeakRef(content));
      return { content };
    },
  };
  const authenticator = { ...parts.authenticator, authenticate: () => refreshed.promise };
  const answers = Array.from({ length: 3 }, () =>
    send("", "203.0.113.2", { parts: { ...parts, opener, authenticator } }),
  );
  await eventually(() => expect(waiting).toHaveLength(3));
  await eventually(() => {
    collect();
    expect(waiting.map((content) => content.deref())).toEqual([undefined, undefined, undefined]);
  });
  refreshed.resolve({ refusal: UNKNOWN_KEY });
  for (const answered of await Promise.all(answers)) expect(answered.answer).toBe(UNKNOWN_KEY);
});
