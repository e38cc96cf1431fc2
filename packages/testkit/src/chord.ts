/** Keys that belong together on a page, as a person presses them. */
import type { Page } from "playwright-core";

const APART_S = 0.1;

/**
 * Presses one key after another, each a tenth of a second after the one before it by the page's own clock, however late
 * it comes there: a page that waits for a second letter forgets the first after a while.
 */
export async function pressChord(page: Page, ...keys: readonly string[]): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const beganAtS = Date.now() / 1000;
  for (const [nth, key] of keys.entries()) {
    const pressed = { key, timestamp: beganAtS + nth * APART_S };
    await session.send("Input.dispatchKeyEvent", { ...pressed, type: "keyDown", text: key });
    await session.send("Input.dispatchKeyEvent", { ...pressed, type: "keyUp" });
  }
  await session.detach();
}
