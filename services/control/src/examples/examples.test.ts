/** The examples of `/openapi.json` contradict neither themselves nor one another; test/examples.test.ts tries each. */
import { expect, it } from "vitest";
import { EXAMPLES } from "./examples.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Every object of an answer, with its operation. */
const objects = Object.entries(EXAMPLES).flatMap(([operation, { answer }]) =>
  [...objectsIn(answer)].map((fields) => [operation, fields] as const),
);

function* objectsIn(value: unknown): Generator<Fields> {
  if (typeof value !== "object" || value === null) return;
  if (!Array.isArray(value)) yield value as Fields;
  for (const each of Object.values(value)) yield* objectsIn(each);
}

const isSuccess = ({ status }: Fields) => Number(status) >= 200 && Number(status) < 300;

it("what an attempt came to is what its URLs answered, and what was published because of it", () => {
  const attempts = objects.filter(([, fields]) => "outcome" in fields && ("urls" in fields || "status" in fields));
  expect(attempts.length).toBeGreaterThan(5);
  for (const [operation, attempt] of attempts) {
    const urls = Array.isArray(attempt["urls"]) ? (attempt["urls"] as readonly Fields[]) : [attempt];
    const isDelivered = attempt["outcome"] === "delivered";
    expect([operation, urls.some(isSuccess)]).toEqual([operation, isDelivered]);
    const { followUps } = attempt;
    if (Array.isArray(followUps)) expect([operation, followUps.length === 0]).toEqual([operation, isDelivered]);
  }
});

it("a URL has a status or the code of what failed, and never both", () => {
  const answered = objects.filter(([, fields]) => "status" in fields && "error" in fields);
  expect(answered.length).toBeGreaterThan(5);
  for (const [operation, { status, error }] of answered) {
    expect([operation, status === null]).toEqual([operation, error !== null]);
  }
});

it("what is asked for by its id is what is answered", () => {
  for (const [operation, { params, answer }] of Object.entries(EXAMPLES)) {
    const { id, place } = (params ?? {}) as Fields;
    const answered = (answer ?? {}) as Fields;
    if (id !== undefined && "id" in answered) expect([operation, answered["id"]]).toEqual([operation, id]);
    if (place !== undefined) expect([operation, answered["place"]]).toEqual([operation, place]);
  }
});

it("destinations and sources that are named by their ids are those that are listed, with their names", () => {
  const listed = (operation: string) => {
    const page = EXAMPLES[operation]?.answer as { readonly data: readonly { readonly id: string }[] } | undefined;
    return page?.data.map(({ id }) => id) ?? [];
  };
  const known = { destinationId: listed("listDestinations"), sourceId: listed("listSources") };
  for (const [field, ids] of Object.entries(known)) {
    const named = objects.flatMap(([operation, { [field]: id }]) => (typeof id === "string" ? [[operation, id]] : []));
    expect(named.length).toBeGreaterThan(3);
    expect(named.filter(([, id = ""]) => !ids.includes(id))).toEqual([]);
  }
});
