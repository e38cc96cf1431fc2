/** Live updates: the rules of live-stream.ts, the dot, and lists that hold still. */
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import type { FakeAnswers } from "./fake-control.ts";
import { attempt, dot, dotSays, LATEST, latest, PAGE } from "./live-rows.ts";
import { eventPage } from "./pages/event.ts";
import { overviewPage } from "./pages/overview.ts";
import { control, poll, startConsole, takeFaults, visit } from "./started-console.ts";
import { askedFrom, axeFaults, rowsOf } from "./story.ts";

const ATTEMPTS = "GET /v1/deliveries";

startConsole();

const reads = (operation: string) => control.requests.filter((each) => each.operation === operation).length;

/** The attempts on the event's page, by their numbers, the newest first. */
async function attemptsOn(page: Page): Promise<readonly string[]> {
  return (await page.getByText(/^. ?attempt \d+: /).allInnerTexts()).map((text) => /\d+/.exec(text)?.[0] ?? "");
}

const tellAttempt = (number: number) =>
  control.tell("deliveries", {
    ...attempt,
    ...{ messageId: "message-7", sourceId: "src_4k2v8m1n0p3q5r7s", attempt: number },
    time: `2026-11-22T10:13:${10 + number}.000Z`,
  });

const liveDots = (page: Page) => page.getByRole("button", { name: /^live/ }).count();

function beHidden(page: Page, isHidden: boolean): Promise<void> {
  return page.evaluate((value) => {
    Object.defineProperty(document, "hidden", { value, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  }, isHidden);
}

/** On it no time passes by itself, however slow the machine is. */
function visitInStillTime(path: string, answers: FakeAnswers, prepare?: (page: Page) => void): Promise<Page> {
  return visit(path, answers, {
    isOwn: true,
    prepare: async (page) => {
      await page.clock.install();
      await page.clock.pauseAt(Date.now() + 3_600_000);
      prepare?.(page);
    },
  });
}

describe("the first page", () => {
  it("LT3: reads how all is once, though its stream begins right after, and again after a gap", async () => {
    let asked: readonly string[] = [];
    const page = await visitInStillTime("/overview", overviewPage.live, (loading) => {
      asked = askedFrom(loading);
    });
    const times = (path: string) => asked.filter((each) => each === path).length;
    await poll(async () => {
      await page.clock.runFor(10);
      return [await page.getByText("1 needs you").count(), control.streams().length, await liveDots(page)];
    }).toEqual([1, 1, 1]);
    // Shorter than until it looks by itself.
    await page.clock.runFor(1500);
    await poll(() => times("/v1/session")).toBe(1);
    expect(times("/v1/status")).toBe(1);
    control.tell("reset", { topics: ["health"] });
    await poll(async () => {
      await page.clock.runFor(10);
      return times("/v1/status");
    }).toBe(2);
  });
});

describe("the stream", () => {
  it("LT2: goes on where it was cut, and each row stands there once", async () => {
    const page = await visit(eventPage.path, { ...eventPage.live, [ATTEMPTS]: { body: { ...PAGE, data: [] } } });
    await page.getByText("No attempt is logged.").waitFor();
    await dotSays(page, "live");
    await poll(() => control.streams().map((each) => each.get("topics"))).toEqual(["deliveries"]);
    for (const number of [1, 2]) tellAttempt(number);
    await poll(() => attemptsOn(page)).toEqual(["2", "1"]);
    control.cut();
    await dotSays(page, "stale since");
    expect(await axeFaults(page)).toEqual([]);
    expect(await attemptsOn(page)).toEqual(["2", "1"]);
    control.answer({ ...eventPage.live, [ATTEMPTS]: { body: { ...PAGE, data: [] } } });
    await dotSays(page, "live");
    await poll(() => control.streams().map((each) => each.get("lastEventId"))).toEqual([control.lastId()]);
    tellAttempt(3);
    await poll(() => attemptsOn(page)).toEqual(["3", "2", "1"]);
    expect(takeFaults().every((fault) => fault.includes("net::ERR_"))).toBe(true);
  });

  it("LT2: that says nothing for eight seconds is opened again", async () => {
    const page = await visitInStillTime("/deliveries", { [LATEST]: latest(1) });
    await poll(async () => {
      await page.clock.runFor(10);
      return page.getByRole("button", { name: /^live/ }).count();
    }).toBe(1);
    // One that was opened for another part of the page is closed by then.
    await page.clock.runFor(1000);
    await poll(() => control.streams().length).toBe(1);
    const [first] = control.streams();
    await page.clock.runFor(6000);
    expect(control.streams()[0]).toBe(first);
    await poll(async () => {
      await page.clock.runFor(200);
      return page.getByRole("button", { name: /^reconnecting/ }).count();
    }).toBe(1);
    await page.clock.runFor(1500);
    await dotSays(page, "live");
    await poll(() => control.streams().length).toBe(1);
    expect(control.streams()[0]).not.toBe(first);
  });

  it("LT3: that missed something has the list read anew", async () => {
    const page = await visitInStillTime("/deliveries", { [LATEST]: latest(1) });
    const isThere = async () => {
      await page.clock.runFor(10);
      return [await page.getByText("message-1").count(), await page.getByRole("button", { name: /^live/ }).count()];
    };
    await poll(isThere).toEqual([1, 1]);
    await page.clock.runFor(1500);
    control.answer({ [LATEST]: latest(2) });
    const asked = askedFrom(page);
    control.tell("reset", { topics: ["deliveries"] });
    let ranMs = 0;
    const askedSoon = async () => {
      // Before the list would look by itself, after five seconds.
      if (ranMs < 2000) await page.clock.runFor(10);
      ranMs += 10;
      return asked;
    };
    await poll(askedSoon).toEqual(["/v1/deliveries/latest"]);
    await page.clock.resume();
    await page.getByRole("button", { name: "1 new" }).waitFor();
  });

  it("LT3: that begins after the list was read has it read anew, since rows may lie between", async () => {
    const prepare = ({ clock }: Page) => clock.install().then(control.cut);
    const page = await visit("/deliveries", { [LATEST]: latest(1) }, { isOwn: true, prepare });
    await page.getByText("message-1").waitFor();
    control.answer({ [LATEST]: latest(2) });
    let ranMs = 0;
    await poll(async () => {
      if (ranMs < 4000) await page.clock.runFor(100);
      ranMs += 100;
      return page.getByRole("button", { name: "1 new" }).count();
    }).toBe(1);
    expect(takeFaults().every((fault) => fault.includes("net::ERR_"))).toBe(true);
  });

  it("LT1: is held while the tab is shown, and goes on from there", async () => {
    const page = await visit("/deliveries", { [LATEST]: latest(1) });
    await page.getByText("message-1").waitFor();
    await dotSays(page, "live");
    // The one that it opened before it had its list is closed by then.
    await poll(() => control.streams().map((each) => each.get("topics"))).toEqual(["dead-letters,deliveries"]);
    await beHidden(page, true);
    await poll(() => control.streams()).toEqual([]);
    await beHidden(page, false);
    await poll(() => control.streams().map((each) => each.get("lastEventId"))).toEqual([control.lastId()]);
  });
});

describe("a list that comes live", () => {
  it("asks control for no more than fits its filter", async () => {
    const page = await visit("/deliveries?destinationId=dst_1&state=delivered&since=2026-11-22T10:00:00Z", {
      [LATEST]: latest(1),
    });
    await dotSays(page, "live");
    await poll(() => control.streams().map((each) => Object.fromEntries(each))).toEqual([
      { topics: "dead-letters,deliveries", destinationId: "dst_1" },
    ]);
  });

  it("asks once while a thousand rows come, and says how many", async () => {
    const page = await visit("/deliveries", { [LATEST]: latest(40) });
    await page.getByText("message-1", { exact: true }).waitFor();
    await dotSays(page, "live");
    control.answer({ [LATEST]: latest(52) });
    for (let row = 0; row < 1000; row += 1) control.tell("deliveries", { ...attempt, messageId: `other-${row}` });
    await page.getByRole("button", { name: "12 new" }).waitFor();
    expect(await rowsOf(page).count()).toBe(40);
    // A second of rows is one question.
    expect(reads(LATEST)).toBeLessThan(20);
  });

  it("tells who hears it what came once in five seconds at the most, the newest in the end", async () => {
    const page = await visitInStillTime("/deliveries", { [LATEST]: latest(1) });
    const rowsAre = (name: string) => async () => {
      await page.clock.runFor(100);
      return page.getByRole("button", { name }).count();
    };
    await poll(rowsAre("live: pause")).toBe(1);
    // The clock stands, and the drawing may wait for a timer.
    const lines = async () => {
      await page.clock.runFor(100);
      return page.getByText("message-1").count();
    };
    await poll(lines).toBe(1);
    const began = Number(
      await page.evaluate(() => {
        const received: string[] = [];
        const look = () => {
          const text = [...document.querySelectorAll("main [role=status]")].map((each) => each.textContent).join("");
          if (text !== "" && text !== received.at(-1)) received.push(text);
        };
        new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true });
        Object.assign(globalThis, { received });
        return performance.now();
      }),
    );
    for (let came = 1; came <= 12; came += 1) {
      control.answer({ [LATEST]: latest(1 + came) });
      control.tell("deliveries", { ...attempt, messageId: `message-${1 + came}` });
      await poll(rowsAre(`${came} new`)).toBe(1);
    }
    const received = async () => {
      await page.clock.runFor(1000);
      return page.evaluate(() => (globalThis as unknown as { readonly received: readonly string[] }).received);
    };
    await poll(async () => (await received()).at(-1)).toBe("12 new deliveries");
    const passedMs = Number(await page.evaluate(() => performance.now())) - began;
    expect((await received()).length).toBeLessThanOrEqual(1 + passedMs / 5000);
  });

  it("is paused by l and by the dot, can be used meanwhile, and goes on from there", async () => {
    const page = await visit("/deliveries", { [LATEST]: latest(2) });
    await page.getByText("message-1").waitFor();
    await dotSays(page, "live");
    await page.keyboard.press("l");
    await dotSays(page, "paused since");
    await poll(() => control.streams()).toEqual([]);
    expect(await axeFaults(page)).toEqual([]);
    await page.getByRole("button", { name: "Add filter" }).click();
    await page.getByRole("menuitem", { name: "Message ID" }).click();
    await page.getByRole("textbox", { name: "Message ID" }).fill("message-2");
    control.answer({ [LATEST]: latest(3) });
    await page.getByRole("button", { name: "Apply" }).click();
    await page.getByText("message-3").waitFor();
    await dot(page).click();
    await dotSays(page, "live");
    await poll(() => control.streams().map((each) => [each.get("lastEventId"), each.get("messageId")])).toEqual([
      [control.lastId(), "message-2"],
    ]);
  });
});
