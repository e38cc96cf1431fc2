/** The console's main pages, and the content of each when it is of use. */
import type { Locator, Page } from "playwright-core";

export interface ConsolePage {
  readonly name: string;
  /** The nth time that it is opened: another destination or event each time, so that none is found ready. */
  readonly path: (n: number) => string;
  readonly shows: (page: Page) => Locator;
}

export interface PagesOptions {
  readonly destinationIds: readonly string[];
  readonly sourceId: string;
  /** Attempts, and dead letters, that control has read. */
  readonly entries: number;
}

const live = (page: Page): Locator => page.locator("main [data-state=live]").first();
/** Also where there is nothing, and it says so. */
const settled = (page: Page): Locator => page.locator("main :is([data-state=live], [data-state=empty])").first();
const row = (page: Page): Locator => page.locator("[role=row][data-key]").first();
/** As many rows as a page has. */
const fullPage = (page: Page): Locator => page.locator("[role=row][data-key]").nth(49);
const verdict = (page: Page): Locator => page.getByRole("region", { name: "Verdict" });
const counted = (page: Page): Locator => page.getByText(/dead letters to /).first();

/** The console around a page that reads nothing: the comparison for each of the others. */
export const FRAME: ConsolePage = {
  name: "the frame alone",
  path: () => "/no-such-page",
  shows: (page) => page.getByRole("heading", { name: "No such page" }),
};

/** The time of a browser for any page of control: a line of text, without a session. */
export const BARE_PAGE: ConsolePage = {
  name: "a bare page",
  path: () => "/v1/session",
  shows: (page) => page.getByText(/unauthorized/i).first(),
};

/** The one that is signed in to. */
export const FIRST_PAGE: ConsolePage = { name: "overview", path: () => "/overview", shows: live };

/** Its rows come by the stream. */
export const LIVE_PAGE: ConsolePage = { name: "deliveries", path: () => "/deliveries", shows: fullPage };

export function mainPages({ destinationIds, sourceId, entries }: PagesOptions): readonly ConsolePage[] {
  // One attempt in five failed, in turns with the destinations.
  const failing = (n: number): string => destinationIds[(5 * n) % destinationIds.length] ?? "";
  const entry = (n: number): number => Math.floor((entries * (n + 0.5)) / 10) % entries;
  return [
    FIRST_PAGE,
    { name: "destinations", path: () => "/destinations", shows: row },
    { name: "a destination", path: (n) => `/destinations/${failing(n)}`, shows: live },
    { name: "its deliveries", path: (n) => `/destinations/${failing(n)}?tab=deliveries`, shows: row },
    { name: "sources", path: () => "/sources", shows: row },
    { name: "a source", path: () => `/sources/${sourceId}`, shows: live },
    LIVE_PAGE,
    {
      name: "deliveries of a destination that wait",
      path: (n) => `/deliveries?state=waiting_retry&destinationId=${failing(n)}`,
      shows: row,
    },
    {
      name: "deliveries of a user that there is not",
      path: (n) => `/deliveries?userId=nobody-${n}`,
      shows: (page) => page.getByText(/^No delivery fits|^searched to/).first(),
    },
    { name: "an event", path: (n) => `/events/attempt-${entry(n)}`, shows: verdict },
    { name: "an event that was given up", path: (n) => `/events/letter-${entry(n)}`, shows: verdict },
    { name: "dead letters by group", path: () => "/dead-letters", shows: fullPage },
    {
      name: "dead letters of a destination",
      path: (n) => `/dead-letters/letters?destinationId=${failing(n)}&reason=window_expired`,
      shows: row,
    },
    {
      name: "a replay of one destination, counted",
      path: (n) => `/replay?destinationId=${failing(n)}`,
      shows: counted,
    },
    { name: "a replay of all, counted", path: () => "/replay", shows: counted },
    { name: "activity", path: () => "/activity", shows: fullPage },
    { name: "access", path: () => "/access", shows: settled },
    { name: "a new destination", path: () => "/connect?kind=webhook", shows: live },
  ];
}
