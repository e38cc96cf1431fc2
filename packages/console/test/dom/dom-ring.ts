/**
 * Pages in the process.
 *
 * Owns: the page that is open, of which there is one at a time: a visit to another leaves it.
 */
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { createRing, type Ring } from "../ring.ts";
import { DomPage, ORIGIN } from "./dom-page.ts";

const WIDE_PX = 1280;
/** A clock that no story sets goes on from here: every run is of the same moment. */
const BEGIN = new Date("2026-11-22T15:04:30.000Z");

let current: DomPage | null = null;

const ring: Ring = {
  missing: null,
  present: () => BEGIN,
  start: async () => ORIGIN,
  open: async (control, at, { width = WIDE_PX, theme = "light", zone = "Europe/Berlin" }) => {
    await current?.close();
    const page = new DomPage({ control, at: at ?? BEGIN, stands: at !== undefined, width, theme, zone });
    current = page;
    // It has the parts of a browser's page that stories use; where one uses more, it fails here and not in a browser.
    const asPage = page as unknown as Page;
    return { page: asPage, takeFaults: () => page.faults.splice(0), leave: () => page.close() };
  },
};

export const inProcess = createRing(ring);

/** As `expect.poll`, but the page's own time passes between two looks, and no other. */
export function poll<Read>(read: () => Read): ReturnType<typeof expect.poll<Read>> {
  const assertion = (isNot: boolean): unknown =>
    new Proxy(
      {},
      {
        get: (_, name) => {
          if (name === "not") return assertion(!isNot);
          return (...wanted: readonly unknown[]) => holds(read, isNot, name, wanted);
        },
      },
    );
  return assertion(false) as ReturnType<typeof expect.poll<Read>>;
}

async function holds(read: () => unknown, isNot: boolean, name: string | symbol, wanted: readonly unknown[]) {
  let failure: unknown;
  const look = async (): Promise<boolean> => {
    try {
      const expected = isNot ? expect(await read()).not : expect(await read());
      Reflect.apply(Reflect.get(expected, name), expected, wanted);
      return true;
    } catch (error) {
      failure = error;
      return false;
    }
  };
  if (current === null) throw new Error("no page is open");
  await current.until("what is polled", look, true).catch((error: unknown) => {
    throw failure ?? error;
  });
}
