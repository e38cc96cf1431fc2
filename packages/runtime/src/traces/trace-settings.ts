/**
 * The settings of traces. All names but the switch are OpenTelemetry's own, with its defaults. They are read only while
 * `POSTHASTE_TRACES` is true, since other programs of the machine may have them for themselves.
 *
 * `OTEL_EXPORTER_OTLP_HEADERS` and the settings of the exporter's TLS are no part of this: the exporter reads them.
 */
import { z } from "zod";
import { wholeNumber } from "../config.ts";

const SAMPLERS = [
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio",
] as const;

const DAY_MS = 86_400_000;
const share = "expected a number from 0 to 1";
const address = () =>
  z.string().refine((text) => /^https?:/.test(text) && URL.canParse(text), "expected an http:// or https:// URL");
const protocol = () =>
  z.literal("http/protobuf", "expected http/protobuf: no other protocol is spoken").default("http/protobuf");

export const traceSettings = z.object({
  OTEL_SERVICE_NAME: z.string().optional(),
  OTEL_RESOURCE_ATTRIBUTES: z.string().optional(),
  OTEL_TRACES_SAMPLER: z.enum(SAMPLERS, `expected one of ${SAMPLERS.join(", ")}`).default("parentbased_always_on"),
  /** The share of traces that a sampler by ratio keeps. */
  OTEL_TRACES_SAMPLER_ARG: z.coerce.number(share).min(0, share).max(1, share).default(1),
  OTEL_EXPORTER_OTLP_ENDPOINT: address().optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: address().optional(),
  OTEL_EXPORTER_OTLP_PROTOCOL: protocol(),
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: protocol(),
  OTEL_EXPORTER_OTLP_TIMEOUT: wholeNumber(1, DAY_MS).default(10_000),
  /** The most ms that a span waits to be sent with others. */
  OTEL_BSP_SCHEDULE_DELAY: wholeNumber(1, DAY_MS).default(5000),
  OTEL_BSP_EXPORT_TIMEOUT: wholeNumber(1, DAY_MS).default(30_000),
  /** The spans that may wait; the others are dropped. */
  OTEL_BSP_MAX_QUEUE_SIZE: wholeNumber(1, 100_000).default(2048),
  OTEL_BSP_MAX_EXPORT_BATCH_SIZE: wholeNumber(1, 100_000).default(512),
});

export type TraceSettings = z.infer<typeof traceSettings>;
