/**
 * Whether all that a page says can be read: no text lies over another, none is cut off. A line that ends in an ellipsis
 * is not cut off where the whole of it stands in the title.
 */
import type { Page } from "playwright-core";

interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** The texts that cannot be read within the frame, or in the dialog that stands over it; empty when all is well. */
export function unreadableTexts(page: Page): Promise<readonly string[]> {
  return page.evaluate(() => {
    /** Boxes of two lines may touch. */
    const TOUCHING_PX = 2;
    const root = [...document.querySelectorAll("[role=dialog]")].at(-1) ?? document.querySelector("main");
    const faults = new Set<string>();
    const texts: { readonly node: Node; readonly words: string; readonly box: Box }[] = [];
    const hidings = new Map<
      Element,
      { readonly overflowX: string; readonly clipPath: string; readonly isTold: boolean; readonly bounds: Box }
    >();

    /** The part of its content that an element hides; looked up once, since many texts stand in it. */
    const hidingOf = (element: Element) => {
      const known = hidings.get(element);
      if (known !== undefined) return known;
      const { overflowX, clipPath, textOverflow } = getComputedStyle(element);
      const isTold = textOverflow === "ellipsis" && element.hasAttribute("title");
      const hiding = { overflowX, clipPath, isTold, bounds: element.getBoundingClientRect() };
      hidings.set(element, hiding);
      return hiding;
    };

    /** The visible part of a text's box; a part that is hidden for good is told. */
    const seenOf = (words: string, box: DOMRect, parent: Element): Box | null => {
      let { left, right, top, bottom } = box;
      for (let each: Element | null = parent; each !== null && each !== root; each = each.parentElement) {
        const { overflowX, clipPath, isTold, bounds } = hidingOf(each);
        // For screen readers alone.
        if (clipPath !== "none") return null;
        if (overflowX === "visible") continue;
        const isCut = right > bounds.right + 1 || bottom > bounds.bottom + 1;
        if (isCut && !isTold && (overflowX === "hidden" || overflowX === "clip")) faults.add(`"${words}" is cut off`);
        [left, right] = [Math.max(left, bounds.left), Math.min(right, bounds.right)];
        [top, bottom] = [Math.max(top, bounds.top), Math.min(bottom, bounds.bottom)];
      }
      return right > left && bottom > top ? { left, right, top, bottom } : null;
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
        if (box !== null) texts.push({ node, words, box });
      }
    }
    // From the top down: a box that begins under a text's end lies over none before it.
    texts.sort((a, b) => a.box.top - b.box.top);
    for (const [index, { node, words, box }] of texts.entries()) {
      for (let next = index + 1; next < texts.length; next += 1) {
        const { node: beside, words: others, box: other } = texts[next] as (typeof texts)[number];
        if (box.bottom - other.top <= TOUCHING_PX) break;
        // A line that ends in an ellipsis has a box for each.
        if (beside === node) continue;
        const width = Math.min(box.right, other.right) - Math.max(box.left, other.left);
        const height = Math.min(box.bottom, other.bottom) - other.top;
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
