/** Traces that a test reads: the spans are kept, and none goes anywhere. */

type Attributes = Readonly<Record<string, string | number>>;

export interface KeptSpan {
  readonly name: string;
  /** `traceparent` of the span above, as it was given. */
  readonly parent: string | undefined;
  readonly link: string | undefined;
  readonly startedAtMs: number | undefined;
  readonly traceparent: string;
  attributes: Attributes;
  error: string | undefined;
  isEnded: boolean;
}

interface SpanStart {
  readonly name: string;
  readonly parent?: string | undefined;
  readonly link?: string | undefined;
  readonly startedAtMs?: number;
  readonly attributes: Attributes;
}

export class KeptTraces {
  readonly spans: KeptSpan[] = [];

  start({ name, parent, link, startedAtMs, attributes }: SpanStart) {
    const id = String(this.spans.length + 1);
    const traceId = this.read(parent)?.split("-")[1] ?? id.padStart(32, "0");
    const traceparent = `00-${traceId}-${id.padStart(16, "0")}-01`;
    const span: KeptSpan = {
      ...{ name, parent, link, startedAtMs, traceparent, attributes, error: undefined, isEnded: false },
    };
    this.spans.push(span);
    return {
      traceparent,
      end: (more: Attributes = {}, error?: string): void => {
        span.attributes = { ...attributes, ...more };
        span.error = error;
        span.isEnded = true;
      },
    };
  }

  read(header: string | undefined): string | undefined {
    return header !== undefined && /^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$/.test(header) ? header : undefined;
  }

  async close(): Promise<void> {}
}
