/**
 * A person who comes to the console, in a real browser, against a whole installation. Each flow is walked one way, and
 * in the long form by mouse, by the keyboard alone and on a phone.
 */
import { eventually } from "@posthaste/testkit/eventually";
import type { Locator } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { rowsOf } from "../faults/form.ts";
import { startBadUrls } from "./bad-urls.ts";
import { sendOne } from "./calls.ts";
import { expectNothingSideways, expectSound, openConsole } from "./console-flow.ts";
import type { Installation } from "./installation.ts";
import { closeDialog, INVITATIONS, nextStreamEnd, pasteAnywhere, revoke, takeTokenForTerminal } from "./invitation.ts";
import { createRoute, messageIdsOf, NO_ROUTE, removeDestinations, untilAllHave } from "./route.ts";
import { ARRIVAL, browser, hasNoBrowser, tell, useConsole } from "./use-console.ts";
import { installation, receiver } from "./use-installation.ts";

describe.skipIf(hasNoBrowser)("a person at the console", () => {
  useConsole();

  describe("the way from nothing to the first event delivered", () => {
    it.each(
      rowsOf(
        [
          ["by mouse", 1280, false],
          ["by Enter alone", 1280, true],
          ["on a phone", 360, false],
        ],
        "by Enter alone",
      ),
    )("takes the sign-in link, four steps and no typed field %s", async (way, width, hasKeysAlone) => {
      // The overview then has nothing to show.
      await removeDestinations(installation);
      const beganAtMs = performance.now();
      const flow = await openConsole(browser, installation, { width });
      const { page } = flow;
      const go = async (target: Locator, hasFocus = target): Promise<void> => {
        await target.waitFor();
        await expectNothingSideways(page);
        await (hasKeysAlone ? flow.enterThere(hasFocus) : flow.click(target));
      };
      const url = page.getByLabel("URL 1");
      await go(page.getByRole("link", { name: "Connect a webhook" }));
      await go(page.getByRole("button", { name: "Use the test receiver" }), url);
      await expect.poll(() => url.inputValue()).toContain("/receive/rcv_");
      await go(page.getByRole("button", { name: "Save and turn on" }));
      // On a person's machine it is known to all within the second that the page waits.
      await page.getByRole("button", { name: "Send a sample event" }).waitFor();
      const savedAtMs = performance.now();
      await untilAllHave(installation);
      const knownAfterMs = performance.now() - savedAtMs;
      await go(page.getByRole("button", { name: "Send a sample event" }));
      const first = page.getByRole("region", { name: "First event" });
      await first.getByText(/Delivered$/).waitFor();
      tell(`the first event ${way}`, performance.now() - beganAtMs - knownAfterMs);
      expect(flow.steps()).toBe(4);
      for (const step of ["received", "attempt"]) await first.getByText(step, { exact: true }).waitFor();
      await expectNothingSideways(page);
      expect(flow.faults()).toEqual([]);
      await page.context().close();
    });
  });

  it("comes with a URL of one's own to the first event, after eight that each say what to change", async () => {
    await removeDestinations(installation);
    const [bad, sources] = await Promise.all([startBadUrls(receiver), countSources(installation)]);
    const flow = await openConsole(browser, installation);
    const { page, click } = flow;
    const url = page.getByLabel("URL 1");
    await click(page.getByRole("link", { name: "Connect a webhook" }));
    await url.waitFor();
    for (const [address, says] of bad.cases) {
      await url.fill(address);
      await page.getByRole("button", { name: "Send test" }).click();
      await page.getByText(says).first().waitFor();
    }
    await bad.close();
    await url.fill("ftp://shop.example/hook");
    await page.getByRole("button", { name: "Save and turn on" }).click();
    await page.locator("[aria-invalid=true]").waitFor();
    await expectSound(page);
    await url.clear();
    await flow.paste(`${receiver.url}/own`);
    await click(page.getByRole("button", { name: "Save and turn on" }));
    await page.getByRole("button", { name: "Send a sample event" }).waitFor();
    await untilAllHave(installation);
    await click(page.getByRole("button", { name: "Send a sample event" }));
    await page
      .getByRole("region", { name: "First event" })
      .getByText(/Delivered$/)
      .waitFor();
    // The link is the first.
    expect(1 + flow.steps()).toBe(5);
    expect(messageIdsOf(receiver.requestsTo("/own")).size).toBe(1);
    // The source that was made before the destination was refused was used again.
    expect(await countSources(installation)).toBe(sources + 1);
    expect(flow.faults()).toEqual([]);
  });

  describe("why an event did not arrive", () => {
    const CALL = { type: "track", userId: "ada", event: "Refused", messageId: "refused-0123456789" };

    beforeAll(async () => {
      const route = await createRoute(installation, receiver, "/refusing");
      receiver.script(route.path, { status: 400 });
      expect(await sendOne(installation.system.ingestUrl, route.writeKey, CALL)).toBe(200);
      const verdictOf = async () =>
        (await installation.control.call("GET", `/v1/events/${CALL.messageId}`)) as { readonly cause: string };
      await eventually(async () => expect((await verdictOf()).cause).toBe("dead_letter"), ARRIVAL);
    });

    it.each(
      rowsOf(
        [
          ["by a key, a paste and Enter", 1280, true],
          ["by a key, a paste and Enter, on a phone", 360, true],
          ["by a click, a paste and a click, on a phone", 360, false],
        ],
        "by a click, a paste and a click, on a phone",
      ),
    )("is told %s, in two steps and a paste", async (way, width, hasKeysAlone) => {
      const flow = await openConsole(browser, installation, { width });
      const { page, press, click, paste, faults } = flow;
      await page.getByRole("heading", { name: "Overview" }).waitFor();
      const askedAtMs = performance.now();
      if (hasKeysAlone) await press("/");
      else await click(page.getByRole("button", { name: "Search, or paste a message id" }));
      const search = page.getByRole("dialog", { name: "Search" });
      await search.locator("input:focus").waitFor();
      await expectNothingSideways(page);
      await paste(CALL.messageId);
      if (hasKeysAlone) await press("Enter");
      else await click(search.getByRole("menuitem", { name: "Why did it not arrive?" }));
      const verdict = page.getByText(/^Not delivered/).first();
      await verdict.waitFor();
      tell(`a verdict ${way}`, performance.now() - askedAtMs);
      // Two steps, and the paste.
      expect(flow.steps()).toBe(2 + 1);
      await page.getByText("attempt 1: rejected").waitFor();
      // By a click it is the page that was looked at by a key.
      await (hasKeysAlone ? expectSound(page) : expectNothingSideways(page));
      await page.reload();
      await verdict.waitFor();
      expect(faults()).toEqual([]);
      await page.context().close();
    });

    it("is told by a paste alone where nothing can be typed, on a phone too", async () => {
      const flow = await openConsole(browser, installation, { width: 360 });
      await flow.page.getByRole("heading", { name: "Overview" }).waitFor();
      await pasteAnywhere(flow, CALL.messageId);
      await flow.page
        .getByText(/^Not delivered/)
        .first()
        .waitFor();
      expect(flow.steps()).toBe(1);
      await expectNothingSideways(flow.page);
      expect(flow.faults()).toEqual([]);
      await flow.page.context().close();
    });
  });

  describe("a second engineer", () => {
    let shared = NO_ROUTE;
    const SENT = { type: "track", userId: "ada", event: "Ordered", messageId: "invited-0123456789" };

    beforeAll(async () => {
      shared = await createRoute(installation, receiver, "/shared");
      expect(await sendOne(installation.system.ingestUrl, shared.writeKey, SENT)).toBe(200);
      await eventually(() => expect(receiver.requestsTo("/shared")).toHaveLength(1), ARRIVAL);
    });

    it.each(rowsOf(INVITATIONS, "by mouse"))(
      "is invited %s in four steps, reads in two, and is shut out at once",
      async (way, width, invite) => {
        const name = `Shared ${way}`;
        // By keys alone the pages are those that were looked at by mouse.
        const expectWell = way === "by the keyboard alone" ? expectNothingSideways : expectSound;
        await installation.control.call("PATCH", `/v1/destinations/${shared.destinationId}`, { name });
        const inviter = await openConsole(browser, installation, { width });
        await invite(inviter);
        const dialog = inviter.page.getByRole("dialog", { name: "For dana" });
        const link = await dialog.locator("code").innerText();
        expect(inviter.steps()).toBe(4);
        await expectWell(inviter.page);
        await closeDialog(dialog);

        const invited = await openConsole(browser, installation, { width, link });
        await invited.page.getByText(`changed ${name}`).waitFor();
        await expectWell(invited.page);
        await pasteAnywhere(invited, SENT.messageId);
        await invited.page
          .getByText(/^Delivered/)
          .first()
          .waitFor();
        // The link is the first.
        expect(1 + invited.steps()).toBe(2);
        tell(`an invited person reads ${way}`, invited.elapsedMs());
        await expectWell(invited.page);
        const token = await takeTokenForTerminal(invited);

        const ask = () =>
          fetch(`${installation.system.controlUrl}/v1/status`, { headers: { authorization: `Bearer ${token}` } });
        expect((await ask()).status).toBe(200);
        const streamEnd = nextStreamEnd(invited.page);
        await revoke(inviter);
        const revokedAtMs = performance.now();
        expect((await ask()).status).toBe(401);
        tell(`a revoked token's stream ends`, (await streamEnd) - revokedAtMs);
        await invited.page.getByRole("link", { name: "Overview" }).press("Enter");
        await invited.page.getByRole("dialog", { name: "Your session is over" }).waitFor();
        expect([inviter.faults(), invited.faults()]).toEqual([[], []]);
        await Promise.all([inviter, invited].map(({ page }) => page.context().close()));
      },
    );
  });
});

async function countSources({ control }: Installation): Promise<number> {
  const { data } = (await control.call("GET", "/v1/sources?limit=200")) as { readonly data: readonly unknown[] };
  return data.length;
}
