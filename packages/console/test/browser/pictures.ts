/**
 * Pictures of the pages, for docs/console.md and README.md, drawn by the browser and by nothing else.
 *
 * DP1  A page is drawn in both themes, at one size and one moment; a later drawing may differ from the kept one in one
 *      pixel of a thousand.
 * DP2  Another major release of the browser may draw text a little otherwise: its pictures are not compared, and a line
 *      says so.
 */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import pixelmatch from "pixelmatch";
import type { Page } from "playwright-core";
import { PNG } from "pngjs";
import { encodeFewColours } from "./png.ts";

export const PICTURES = new URL("../../../../docs/images/", import.meta.url);
/** Which major release of Chromium drew them. */
const DRAWN_BY = new URL("drawn-by.json", PICTURES);
const SIZE = { width: 1280, height: 800 };
const MOST_DIFFERING = 0.001;
const THEMES = ["light", "dark"] as const;
/** The reads beside the first, and a chart, come within that. */
const FIRST_MS = 1000;
/** A picture that does not change for so long is whole. */
const SETTLED_MS = 300;
const PATIENCE_MS = 45_000;
const AGAIN_MS = 200;

let isReported = false;

/** `/sources/$sourceId` is `console-sources-source`. */
export function pictureName(route: string): string {
  return `console${route.replaceAll("/", "-").replace(/\$(\w+)Id$/, "$1")}`;
}

/**
 * Differences of the window's present content from the kept picture; empty when all is well. The page is then in the
 * dark.
 */
export async function drawnOtherwise(page: Page, name: string): Promise<readonly string[]> {
  const release = releaseOf(page);
  const { chromium } = JSON.parse(await readFile(DRAWN_BY, "utf8")) as { readonly chromium: string };
  if (chromium !== release) {
    if (!isReported) process.stdout.write(`pictures are of Chromium ${chromium}, this is ${release}: not compared\n`);
    isReported = true;
    return [];
  }
  const faults: string[] = [];
  await inThemes(page, async (theme) => {
    const file = fileOf(name, theme);
    const kept = PNG.sync.read(await readFile(file));
    const untilMs = performance.now() + PATIENCE_MS;
    for (;;) {
      const found = differences(kept, PNG.sync.read(await draw(page)), file);
      if (found.length > 0 && performance.now() < untilMs) {
        await page.waitForTimeout(AGAIN_MS);
        continue;
      }
      faults.push(...found);
      return;
    }
  });
  return faults;
}

/** Keeps a picture of the window's present content. Returns the bytes of both pictures. */
export async function keepPictures(page: Page, name: string): Promise<number> {
  await mkdir(PICTURES, { recursive: true });
  let bytes = 0;
  await page.waitForTimeout(FIRST_MS);
  await inThemes(page, async (theme) => {
    const picture = encodeFewColours(PNG.sync.read(await settled(page)));
    await writeFile(fileOf(name, theme), picture);
    bytes += picture.length;
  });
  await writeFile(DRAWN_BY, `${JSON.stringify({ chromium: releaseOf(page) }, null, 2)}\n`);
  return bytes;
}

async function inThemes(page: Page, act: (theme: (typeof THEMES)[number]) => Promise<void>): Promise<void> {
  await page.setViewportSize(SIZE);
  // The element with the focus differs by how one came there.
  await page.evaluate(() => {
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
  });
  for (const theme of THEMES) {
    await page.emulateMedia({ colorScheme: theme });
    await act(theme);
  }
}

function draw(page: Page): Promise<Buffer> {
  return page.screenshot({ animations: "disabled", caret: "hide" });
}

async function settled(page: Page): Promise<Buffer> {
  let before = await draw(page);
  for (;;) {
    await page.waitForTimeout(SETTLED_MS);
    const now = await draw(page);
    if (now.equals(before)) return now;
    before = now;
  }
}

function differences({ width, height, data }: PNG, drawn: PNG, file: URL): readonly string[] {
  if (width !== drawn.width || height !== drawn.height) return [`${file.pathname} has another size`];
  const share = pixelmatch(data, drawn.data, undefined, width, height, { threshold: 0.1 }) / (width * height);
  return share <= MOST_DIFFERING ? [] : [`${file.pathname} differs in ${(share * 100).toFixed(2)} % of its pixels`];
}

function fileOf(name: string, theme: string): URL {
  return new URL(`${name}-${theme}.png`, PICTURES);
}

/** The major release, such as `156`: Debian brings a minor one every few days, and they draw alike. */
function releaseOf(page: Page): string {
  return page.context().browser()?.version().split(".")[0] ?? "";
}
