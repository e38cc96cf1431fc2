/** The rows of the live list of deliveries, and its dot. */
import type { Page } from "playwright-core";
import { exampleOf } from "./fake-control.ts";

export const LATEST = "GET /v1/deliveries/latest";
export const PAGE = { nextCursor: null, asOf: "2026-11-22T14:12:10.000Z", complete: true, searchedTo: null };

export const [delivery] = (exampleOf(LATEST).body as { readonly data: readonly object[] }).data;
export const [attempt] = (exampleOf("GET /v1/deliveries").body as { readonly data: readonly object[] }).data;

/** An answer with so many deliveries, the newest first. */
export const latest = (count: number) => ({
  body: {
    ...PAGE,
    data: Array.from({ length: count }, (_, n) => ({ ...delivery, messageId: `message-${count - n}` })),
  },
});

export const dot = (page: Page) => page.getByRole("button", { name: /: (pause|go on)$/ });

export const dotSays = (page: Page, words: string) =>
  page.getByRole("button", { name: new RegExp(`^${words}`) }).waitFor();
