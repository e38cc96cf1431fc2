/** Reads the spans of an OTLP request in protobuf, as the protocol's `trace_service.proto` numbers their fields. */

export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty where the span begins its trace. */
  readonly parentSpanId: string;
  readonly name: string;
  /** The `service.name` of the process. */
  readonly service: string;
  readonly attributes: Readonly<Record<string, string | number>>;
  /** The span ids that it links to, each with its trace's id before it: `traceId/spanId`. */
  readonly links: readonly string[];
  readonly isError: boolean;
}

type Field = readonly [number: number, value: bigint | Buffer];

/** Throws RangeError for bytes that are no such request. */
export function readSpans(request: Buffer): readonly ReceivedSpan[] {
  return messages(fieldsOf(request), 1).flatMap((resourceSpans) => {
    const [resource = []] = messages(resourceSpans, 1);
    const service = String(attributesOf(messages(resource, 1))["service.name"] ?? "");
    const spans = messages(resourceSpans, 2).flatMap((scope) => messages(scope, 2));
    return spans.map((span) => toSpan(span, service));
  });
}

function toSpan(span: readonly Field[], service: string): ReceivedSpan {
  const hex = (of: readonly Field[], number: number) => bytes(of, number).toString("hex");
  return {
    traceId: hex(span, 1),
    spanId: hex(span, 2),
    parentSpanId: hex(span, 4),
    name: String(bytes(span, 5)),
    service,
    attributes: attributesOf(messages(span, 9)),
    links: messages(span, 13).map((link) => `${hex(link, 1)}/${hex(link, 2)}`),
    isError: messages(span, 15).some((status) => number(status, 3) === 2),
  };
}

function attributesOf(entries: readonly (readonly Field[])[]): Record<string, string | number> {
  return Object.fromEntries(
    entries.map((entry) => {
      const [value = []] = messages(entry, 2);
      const isText = value.some(([field]) => field === 1);
      return [String(bytes(entry, 1)), isText ? String(bytes(value, 1)) : number(value, 3)];
    }),
  );
}

function messages(fields: readonly Field[], number: number): readonly (readonly Field[])[] {
  return fields.flatMap(([field, value]) => (field === number && Buffer.isBuffer(value) ? [fieldsOf(value)] : []));
}

function bytes(fields: readonly Field[], number: number): Buffer {
  const found = fields.find(([field]) => field === number)?.[1];
  return Buffer.isBuffer(found) ? found : Buffer.alloc(0);
}

function number(fields: readonly Field[], number: number): number {
  const found = fields.find(([field]) => field === number)?.[1];
  return typeof found === "bigint" ? Number(found) : 0;
}

/** The fields of a message, in their order. */
function fieldsOf(message: Buffer): readonly Field[] {
  const fields: Field[] = [];
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = message.readUInt8(at++);
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  while (at < message.length) {
    const tag = Number(varint());
    const [number, type] = [tag >> 3, tag & 7];
    if (type === 0) fields.push([number, varint()]);
    else {
      const length = type === 2 ? Number(varint()) : type === 1 ? 8 : 4;
      if (at + length > message.length) throw new RangeError(`field ${number} ends behind its message`);
      fields.push([number, message.subarray(at, at + length)]);
      at += length;
    }
  }
  return fields;
}
