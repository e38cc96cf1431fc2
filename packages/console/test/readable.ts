/** Whether all that a page says can be read: no text lies over another, none is cut off. */
import type { Page } from "playwright-core";

/** What cannot be read within the frame, or of the dialog that stands over it, in words; empty when all is well. */
export function unreadableTexts(page: Page): Promise<readonly string[]> {
  return page.evaluate(() => {
    /** Boxes of two lines may touch. */
    const TOUCHING_PX = 2;
    const root = [...document.querySelectorAll("[role=dialog]")].at(-1) ?? document.querySelector("main");
    const faults = new Set<string>();
    const texts: { readonly words: string; readonly box: DOMRect }[] = [];

    /** The part of a text's box that is seen; what hides the rest for good is told. */
    const seenOf = (words: string, box: DOMRect, parent: Element): DOMRect | null => {
      let { left, right, top, bottom } = box;
      for (let each: Element | null = parent; each !== null && each !== root; each = each.parentElement) {
        const { overflowX, clipPath } = getComputedStyle(each);
        // Said to who hears the page alone.
        if (clipPath !== "none") return null;
        if (overflowX === "visible") continue;
        const bounds = each.getBoundingClientRect();
        const isCut = right > bounds.right + 1 || bottom > bounds.bottom + 1;
        if (isCut && (overflowX === "hidden" || overflowX === "clip")) faults.add(`"${words}" is cut off`);
        [left, right] = [Math.max(left, bounds.left), Math.min(right, bounds.right)];
        [top, bottom] = [Math.max(top, bounds.top), Math.min(bottom, bounds.bottom)];
      }
      return right > left && bottom > top ? new DOMRect(left, top, right - left, bottom - top) : null;
    };

    const walker = document.createTreeWalker(root ?? document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      const words = node.textContent?.trim() ?? "";
      const parent = node.parentElement;
      if (words === "" || parent === null || !parent.checkVisibility({ visibilityProperty: true })) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      for (const each of range.getClientRects()) {
        const box = seenOf(words, each, parent);
        if (box !== null) texts.push({ words, box });
      }
    }
    for (const [index, { words, box }] of texts.entries()) {
      for (const { words: others, box: other } of texts.slice(index + 1)) {
        const width = Math.min(box.right, other.right) - Math.max(box.left, other.left);
        const height = Math.min(box.bottom, other.bottom) - Math.max(box.top, other.top);
        if (width > TOUCHING_PX && height > TOUCHING_PX) faults.add(`"${words}" lies over "${others}"`);
      }
    }
    return [...faults];
  });
}

/** While the browser's own letters are twice as large as they are by default. */
export async function withLargeLetters(page: Page, act: () => Promise<void>): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send("Page.setFontSizes", { fontSizes: { standard: 32, fixed: 26 } });
  await act();
  await session.send("Page.setFontSizes", { fontSizes: { standard: 16, fixed: 13 } });
  await session.detach();
}
