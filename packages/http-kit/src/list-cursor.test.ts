import { expect, it } from "vitest";
import { z } from "zod";
import { pageOf, pageQuery } from "./page.ts";
import { defineRoute, type RouteRequest } from "./route.ts";

/** A list whose own cursor is a number; it answers the one that it was asked with, and the next. */
const listOf = (operation: string) =>
  defineRoute({
    ...{ method: "GET", path: `/v1/${operation}`, operation, summary: "", query: pageQuery },
    answer: { status: 200, description: "", body: { name: operation, schema: pageOf(z.string()) } },
    handle: ({ query: { cursor = "0" } }) => {
      const nextCursor = cursor === "2" ? null : String(Number(cursor) + 1);
      return { data: [cursor], nextCursor, asOf: null, complete: true };
    },
  });

const ask = (route: ReturnType<typeof listOf>, cursor?: string) =>
  route.run({ params: {}, query: cursor === undefined ? {} : { cursor } } as RouteRequest) as Promise<{
    readonly data: readonly string[];
    readonly nextCursor: string | null;
  }>;

it("a list goes on from its own cursors, as it made them", async () => {
  const list = listOf("listDeadLetters");
  const first = await ask(list);
  const second = await ask(list, first.nextCursor ?? undefined);
  const third = await ask(list, second.nextCursor ?? undefined);
  expect([first, second, third].map(({ data }) => data)).toEqual([["0"], ["1"], ["2"]]);
  expect(third.nextCursor).toBeNull();
});

it("a list refuses the cursor of another one, also of one whose name its own begins with", async () => {
  const { nextCursor } = await ask(listOf("list"));
  await expect(ask(listOf("listDeadLetters"), nextCursor ?? "")).rejects.toMatchObject({
    kind: "invalid_input",
    errors: [
      { path: "cursor", message: expect.stringContaining("without a cursor the list begins at its first page") },
    ],
  });
  await expect(ask(listOf("list"), "1")).rejects.toMatchObject({ kind: "invalid_input" });
});
