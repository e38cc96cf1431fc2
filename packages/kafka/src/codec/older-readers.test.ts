/**
 * A reader with an older schema reads a symbol that it does not know as `other`. Each symbol of each growing enum is
 * taken for the new one.
 */
import { globSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import avro from "avsc";
import { expect, it } from "vitest";

const FILES = globSync(new URL("../../../../schemas/*.avsc", import.meta.url).pathname);
const OTHER = "other";

interface GrowingEnum {
  readonly schema: string;
  readonly name: string;
  readonly symbol: string;
}

/** Every part of a schema, the whole included. */
function* partsOf(schema: unknown): Iterable<Record<string, unknown>> {
  if (typeof schema !== "object" || schema === null) return;
  if (!Array.isArray(schema)) yield schema as Record<string, unknown>;
  for (const part of Object.values(schema)) yield* partsOf(part);
}

const read = (file: string): avro.Schema => JSON.parse(readFileSync(file, "utf8"));

const growing: readonly GrowingEnum[] = FILES.flatMap((file) =>
  [...partsOf(read(file))]
    .filter(({ type, default: byDefault }) => type === "enum" && byDefault === OTHER)
    .flatMap(({ name, symbols }) =>
      (symbols as readonly string[])
        .filter((symbol) => symbol !== OTHER)
        .map((symbol) => ({ schema: basename(file), name: String(name), symbol })),
    ),
);

const LEAVES: Readonly<Record<string, unknown>> = {
  ...{ null: null, boolean: true, int: 1, long: 1, float: 1, double: 1 },
  ...{ string: "text", bytes: Buffer.from("bytes") },
};

/** A value of the type that has the enum symbol in every place where the type allows it. */
function valueWith(type: avro.Type, symbol: string): unknown {
  if (type instanceof avro.types.RecordType)
    return Object.fromEntries(type.fields.map((field) => [field.name, valueWith(field.type, symbol)]));
  if (type instanceof avro.types.ArrayType) return [valueWith(type.itemsType, symbol)];
  if (type instanceof avro.types.MapType) return { key: valueWith(type.valuesType, symbol) };
  if (type instanceof avro.types.EnumType) return type.symbols.includes(symbol) ? symbol : type.symbols[0];
  if (type instanceof avro.types.UnwrappedUnionType) {
    const [first, ...others] = type.types.map((each) => valueWith(each, symbol));
    return others.find((value) => JSON.stringify(value).includes(`"${symbol}"`)) ?? first;
  }
  const { typeName } = type;
  if (!(typeName in LEAVES)) throw new Error(`no value is known for the type ${typeName}`);
  return LEAVES[typeName];
}

it("causes, reasons and whatever else a later release may name anew are such enums", () => {
  const names = new Set(growing.map(({ schema, name }) => `${basename(schema, ".avsc")} ${name}`));
  expect([...names].toSorted()).toEqual([
    "attempt-batch AttemptOutcome",
    "attempt-batch DeferredCause",
    "attempt-batch EventType",
    "attempt-batch FollowUpKind",
    "audit AuditWay",
    "dead-letter DeadLetterReason",
    "dead-letter EventType",
    "dead-letter ReasonClass",
    "delivery EventType",
    "destination-health BreakerState",
    "destination-health HealthOutcome",
    "replay PlanPurpose",
    "token AccessKind",
    "token AccessScope",
    "unrouted-events UnroutedCause",
  ]);
});

it.each(growing)("$schema: $name: $symbol is other to a reader that does not know it", ({ schema, name, symbol }) => {
  const file = FILES.find((each) => basename(each) === schema) ?? "";
  const withSymbols = (choose: (symbols: readonly string[]) => readonly string[]): avro.Type => {
    const changed = read(file);
    for (const part of partsOf(changed)) {
      if (part["name"] !== name || !Array.isArray(part["symbols"])) continue;
      part["symbols"] = choose(part["symbols"]);
    }
    return avro.Type.forSchema(changed);
  };
  const reader = withSymbols((symbols) => symbols.filter((each) => each !== symbol));
  // It writes the new one, or `other`, wherever the enum stands.
  const writer = withSymbols(() => [symbol, OTHER]);
  const resolver = reader.createResolver(writer);
  // The same word in other enums stays there.
  const apart = (text: string) => text.replaceAll(`"${symbol}"`, '"#"').replaceAll(`"${OTHER}"`, '"#"');
  const value = valueWith(writer, symbol);
  const written = writer.toString(value);
  const seen = writer.toString(reader.fromBuffer(writer.toBuffer(value), resolver));
  expect(apart(seen)).toBe(apart(written));
  expect(seen).not.toBe(written);
});
