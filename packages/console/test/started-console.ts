/**
 * The console as stories use it: in the process, or with `POSTHASTE_CONSOLE=chromium` in a browser, where the same
 * stories show that the pages in the process are as true.
 */
const isInBrowser = process.env["POSTHASTE_CONSOLE"] === "chromium";

async function findRing() {
  if (!isInBrowser) {
    const { inProcess, poll } = await import("./dom/dom-ring.ts");
    return { ...inProcess, poll };
  }
  const { inBrowser, poll } = await import("./browser/browser-ring.ts");
  return { ...inBrowser, poll };
}

const ring = await findRing();
export const { control, present, startConsole, visit, takeFaults } = ring;

/** As `expect.poll`, by the page's own time. */
export const { poll } = ring;
