/**
 * Traces by OpenTelemetry: spans that go to a collector by OTLP over HTTP.
 *
 * Owns: the spans that wait to be sent, and the connections to the collector.
 * TX1  The collector slows nothing and stops nothing: spans wait in a queue with a bound, and a span that finds no room
 *      there is dropped. At most one request is out, until `close`.
 * TX2  A span context of a stranger is taken only where it is well-formed, and never longer than `MAX_TRACEPARENT`.
 *      It is written anew from its ids before it is passed on. `tracestate` is not passed on.
 * TX3  `close` waits for the collector at most `CLOSE_MS`.
 * TX4  A text in an attribute is at most `MAX_ATTRIBUTE` long.
 *
 * A process without traces does not load this file.
 */
import {
  type Context,
  DiagLogLevel,
  diag,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { parseTraceParent, setGlobalErrorHandler } from "@opentelemetry/core";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from "@opentelemetry/resources";
import { BatchSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import type { Logger } from "../logger.ts";
import { samplerOf } from "./sampler.ts";
import type { TraceSettings } from "./trace-settings.ts";

/** Version 00 has 55 characters; a later one may have more. */
const MAX_TRACEPARENT = 128;
const MAX_ATTRIBUTE = 256;
const CLOSE_MS = 1000;
/** The most characters of the collector's complaint in a log line. */
const MAX_REASON = 200;

export type SpanAttributes = Readonly<Record<string, string | number>>;

export interface SpanStart {
  /** One of few names. */
  readonly name: string;
  readonly kind: "server" | "consumer" | "client" | "producer";
  /** The `traceparent` of the span above this one. A trace begins where it is absent or malformed. */
  readonly parent?: string | undefined;
  /** The `traceparent` of a span that this one follows from. */
  readonly link?: string | undefined;
  /** In ms since the epoch; now where it is absent. */
  readonly startedAtMs?: number;
  readonly attributes: SpanAttributes;
}

export interface StartedSpan {
  /** The `traceparent` of the span, for the headers of what comes of it. */
  readonly traceparent: string;
  /** Ends the span. `error` is one of few words; absent where all went well. */
  end(attributes?: SpanAttributes, error?: string): void;
}

export interface Traces {
  start(start: SpanStart): StartedSpan;
  /** The `traceparent` in a header's text, written anew; undefined where the text is none (TX2). */
  read(header: string | undefined): string | undefined;
  /** Sends the spans that wait, and gives up the rest (TX3). */
  close(): Promise<void>;
}

export interface TracesOptions {
  readonly service: string;
  readonly version: string;
  readonly settings: TraceSettings;
  readonly log: Pick<Logger, "warn">;
  /** Of TX3, in ms. */
  readonly closeMs?: number;
}

const KINDS = {
  server: SpanKind.SERVER,
  consumer: SpanKind.CONSUMER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
} as const;

export function openTraces({ service, version, settings, log, closeMs = CLOSE_MS }: TracesOptions): Traces {
  const warn = logTroubles(log);
  const provider = new TracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ "service.name": `posthaste-${service}`, "service.version": version }))
      .merge(detectResources({ detectors: [envDetector] })),
    sampler: samplerOf(settings.OTEL_TRACES_SAMPLER, settings.OTEL_TRACES_SAMPLER_ARG),
    spanLimits: { attributeValueLengthLimit: MAX_ATTRIBUTE },
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: new OTLPTraceExporter(),
        scheduledDelayMillis: settings.OTEL_BSP_SCHEDULE_DELAY,
        exportTimeoutMillis: settings.OTEL_BSP_EXPORT_TIMEOUT,
        maxQueueSize: settings.OTEL_BSP_MAX_QUEUE_SIZE,
        maxExportBatchSize: settings.OTEL_BSP_MAX_EXPORT_BATCH_SIZE,
      }),
    ],
  });
  const tracer = provider.getTracer("posthaste", version);
  return {
    start: (start) => new OpenSpan(startSpan(tracer, start)),
    read: (header) => {
      const context = contextOf(header);
      return context === undefined ? undefined : toTraceparent(context);
    },
    close: async () => {
      const late = Promise.withResolvers<void>();
      const timer = setTimeout(late.resolve, closeMs);
      await Promise.race([provider.shutdown().catch(warn), late.promise]);
      clearTimeout(timer);
    },
  };
}

class OpenSpan implements StartedSpan {
  readonly #span: Span;

  constructor(span: Span) {
    this.#span = span;
  }

  get traceparent(): string {
    return toTraceparent(this.#span.spanContext());
  }

  end(attributes: SpanAttributes = {}, error?: string): void {
    this.#span.setAttributes(attributes);
    if (error !== undefined) {
      this.#span.setAttribute("error.type", error);
      this.#span.setStatus({ code: SpanStatusCode.ERROR });
    }
    this.#span.end();
  }
}

function startSpan(tracer: Tracer, { name, kind, parent, link, startedAtMs, attributes }: SpanStart): Span {
  const linked = contextOf(link);
  return tracer.startSpan(
    name,
    {
      kind: KINDS[kind],
      attributes,
      ...(linked === undefined ? {} : { links: [{ context: linked }] }),
      ...(startedAtMs === undefined ? {} : { startTime: startedAtMs }),
    },
    parentContext(parent),
  );
}

function parentContext(traceparent: string | undefined): Context {
  const context = contextOf(traceparent);
  return context === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, context);
}

type SpanContext = ReturnType<Span["spanContext"]>;

function contextOf(traceparent: string | undefined): SpanContext | undefined {
  if (traceparent === undefined || traceparent.length > MAX_TRACEPARENT) return undefined;
  const context = parseTraceParent(traceparent);
  return context === null ? undefined : { ...context, isRemote: true };
}

function toTraceparent({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${(traceFlags & 1) === 1 ? "01" : "00"}`;
}

/**
 * Logs the library's complaints: spans that were dropped, and a collector that does not take them. Returns the function
 * that logs one.
 */
function logTroubles(log: Pick<Logger, "warn">): (reason: unknown) => void {
  const warn = (reason: unknown) => {
    const text = reason instanceof Error ? reason.message : String(reason);
    log.warn({ event: "traces_not_sent", reason: text.slice(0, MAX_REASON) });
  };
  const ignore = () => {};
  diag.setLogger(
    { error: warn, warn, info: ignore, debug: ignore, verbose: ignore },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  setGlobalErrorHandler(warn);
  return warn;
}
