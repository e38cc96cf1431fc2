import { eventually } from "@posthaste/testkit/eventually";
import { type OtlpReceiver, startOtlpReceiver } from "@posthaste/testkit/otlp-receiver";
import fc from "fast-check";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { readConfig } from "../config.ts";
import { traceSettings } from "./trace-settings.ts";
import { openTraces, type Traces } from "./traces.ts";

const PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const [, TRACE_ID, SPAN_ID] = PARENT.split("-");
const SERVER = { name: "ingest", kind: "server", attributes: {} } as const;

let receiver: OtlpReceiver;
let traces: Traces;
let logged: object[];

beforeEach(async () => {
  logged = [];
  receiver = await startOtlpReceiver();
});

afterEach(async () => {
  await traces.close();
  await receiver.close();
  vi.unstubAllEnvs();
});

function open(env: Readonly<Record<string, string>> = {}, closeMs = 60_000): Traces {
  vi.stubEnv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.url);
  traces = openTraces({
    service: "ingest",
    version: "1.2.3",
    settings: readConfig(traceSettings, { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, ...env }),
    log: { warn: (fields) => logged.push(fields) },
    closeMs,
  });
  return traces;
}

it("sends a span with its trace, its parent, its link and its service", async () => {
  const link = `00-${"1".repeat(32)}-${"2".repeat(16)}-01`;
  const span = open().start({ ...SERVER, parent: PARENT, link, attributes: { one: 1 } });
  expect(span.traceparent).toMatch(new RegExp(`^00-${TRACE_ID}-[0-9a-f]{16}-01$`));
  span.end({ two: "2" }, "timeout");
  await traces.close();
  const attributes = { one: 1, two: "2", "error.type": "timeout" };
  const place = { traceId: TRACE_ID, spanId: span.traceparent.split("-")[2], parentSpanId: SPAN_ID };
  expect(receiver.spans).toEqual([
    {
      ...{ ...place, name: "ingest", service: "posthaste-ingest", attributes, isError: true },
      links: [`${"1".repeat(32)}/${"2".repeat(16)}`],
    },
  ]);
});

it("TX2: takes a stranger's header only where it is well-formed, and passes on its ids alone", () => {
  const { read, start } = open();
  expect(read(PARENT)).toBe(PARENT);
  expect(read(`cc${PARENT.slice(2, -2)}03-what-a-later-version-adds`)).toBe(PARENT);
  const wrong = ["", "00", PARENT.toUpperCase(), `${PARENT}-x`, `ff${PARENT.slice(2)}`, `${PARENT}, ${PARENT}`];
  wrong.push(`cc${PARENT.slice(2)}-${"x".repeat(100)}`, PARENT.replace(/0af\w+/, "0".repeat(32)));
  for (const text of wrong) expect([text, read(text)]).toEqual([text, undefined]);
  fc.assert(
    fc.property(
      fc.oneof(fc.string({ maxLength: 200 }), fc.string({ unit: fc.constantFrom(..."0f-"), maxLength: 60 })),
      (text) => {
        const given = start({ ...SERVER, parent: text }).traceparent;
        expect(given).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$/);
      },
    ),
  );
});

it("TX4: cuts long texts", async () => {
  open()
    .start({ ...SERVER, attributes: { long: "x".repeat(10_000) } })
    .end();
  await traces.close();
  expect(String(receiver.spans[0]?.attributes["long"])).toHaveLength(256);
});

it.each([
  ["parentbased_always_on", "01"],
  ["parentbased_always_off", "00"],
  ["always_off", "00"],
  ["traceidratio", "00"],
])("samples as %s says", (sampler, flag) => {
  const { start } = open({ OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: "0" });
  expect(start(SERVER).traceparent.slice(-2)).toBe(flag);
});

it("TX1: holds no more spans than its queue while the collector hangs, with one request out", async () => {
  await receiver.close();
  receiver = await startOtlpReceiver({ fault: "hang" });
  const { start } = open({ OTEL_BSP_MAX_QUEUE_SIZE: "20", OTEL_BSP_MAX_EXPORT_BATCH_SIZE: "10" }, 1);
  for (let count = 0; count < 10; count += 1) start(SERVER).end();
  await eventually(() => expect(receiver.requests).toHaveLength(1));
  for (let count = 0; count < 1000; count += 1) start(SERVER).end();
  // TX3: two more requests take what the queue holds, and nobody waits for their answers.
  await traces.close();
  await eventually(() => expect(receiver.requests).toHaveLength(3));
});

it("logs a collector that refuses", async () => {
  await receiver.close();
  receiver = await startOtlpReceiver({ fault: "refuse" });
  open().start(SERVER).end();
  await traces.close();
  expect(logged).toMatchObject([{ event: "traces_not_sent", reason: "Bad Request" }]);
});

it("names a setting that cannot be read", () => {
  open();
  const read = (env: Readonly<Record<string, string>>) => () => readConfig(traceSettings, env);
  expect(read({ OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" })).toThrow("OTEL_EXPORTER_OTLP_PROTOCOL: expected http/protobuf");
  expect(read({ OTEL_TRACES_SAMPLER: "jaeger_remote" })).toThrow("OTEL_TRACES_SAMPLER: expected one of always_on");
  expect(read({ OTEL_TRACES_SAMPLER_ARG: "2" })).toThrow("OTEL_TRACES_SAMPLER_ARG: expected a number from 0 to 1");
  expect(read({ OTEL_EXPORTER_OTLP_ENDPOINT: "collector:4318" })).toThrow("expected an http:// or https:// URL");
});
