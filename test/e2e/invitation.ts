/** An engineer invites a second one, who signs in. */
import type { Locator, Page } from "playwright-core";
import { type ConsoleFlow, expectSound } from "./console-flow.ts";

/** Ways to a sign-in link for dana, which the page shows at their end, each with the width of the window. */
export const INVITATIONS: readonly (readonly [
  name: string,
  width: number,
  invite: (flow: ConsoleFlow) => Promise<void>,
])[] = [
  ["by mouse", 1280, inviteByMouse],
  ["by the keyboard alone", 1280, inviteByKeys],
  ["on a phone", 360, inviteOnPhone],
];

async function inviteByMouse({ page, click, paste }: ConsoleFlow): Promise<void> {
  await click(page.getByRole("link", { name: "Access" }));
  await click(page.getByRole("button", { name: "New token" }).first());
  await page.getByLabel("Name").waitFor();
  await expectSound(page);
  await paste("dana");
  await click(page.getByRole("button", { name: "Make and copy the link" }));
}

async function inviteByKeys({ page, press, enter, paste }: ConsoleFlow): Promise<void> {
  await press("g t");
  await enter(page.getByRole("button", { name: "New token" }).first());
  await paste("dana");
  await press("Enter");
}

async function inviteOnPhone({ page, click, paste }: ConsoleFlow): Promise<void> {
  await click(page.getByRole("button", { name: "You: admin" }));
  await click(page.getByRole("menuitem", { name: "Invite somebody" }));
  await page.getByLabel("Name").waitFor();
  await expectSound(page);
  await paste("dana");
  await click(page.getByRole("button", { name: "Make and copy the link" }));
}

/** Where nothing can be typed. */
export async function pasteAnywhere({ page, press }: ConsoleFlow, text: string): Promise<void> {
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(text)})`);
  await press("ControlOrMeta+v");
}

/** By Escape. A dialog has its text a moment before it has the focus, and a key pressed between goes nowhere. */
export async function closeDialog(dialog: Locator): Promise<void> {
  await dialog.press("Escape");
  await dialog.waitFor({ state: "detached" });
}

/** The line that the page shows once, without the text before the token. */
export async function takeTokenForTerminal({ page }: ConsoleFlow): Promise<string> {
  await page.getByRole("button", { name: "You: dana" }).click();
  await page.getByRole("menuitem", { name: "Use it in the terminal" }).click();
  const dialog = page.getByRole("dialog", { name: "Use it in the terminal" });
  await dialog.getByRole("button", { name: "Make the token" }).click();
  const line = await dialog.getByText(/^export POSTHASTE_ADMIN_TOKEN=/).innerText();
  await closeDialog(dialog);
  return line.replace(/^.*=/, "");
}

export async function revoke({ page, enter }: ConsoleFlow): Promise<void> {
  const question = page.getByRole("dialog", { name: "Revoke dana?" });
  await enter(page.getByRole("button", { name: "Revoke dana", exact: true }));
  await question.getByRole("button", { name: "Revoke" }).press("Enter");
  await question.waitFor({ state: "detached" });
}

/** When the stream that the page holds ends. */
export function nextStreamEnd(page: Page): Promise<number> {
  return new Promise((resolve) => {
    for (const end of ["requestfailed", "requestfinished"] as const) {
      page.on(end as "requestfailed", (request) => {
        if (request.url().includes("/v1/live?")) resolve(performance.now());
      });
    }
  });
}
