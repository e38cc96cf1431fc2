/** npm run console:pictures [-- NAME...]: the pictures of every page, or of those named, in docs/images anew. */
import { readConsoleFiles } from "../served/console-files.ts";
import { openPage, startBrowser } from "./browser/browser.ts";
import { keepPictures, pictureName } from "./browser/pictures.ts";
import { serveFakeControl } from "./browser/serve-fake-control.ts";
import { createFakeControl } from "./fake-control.ts";
import { setup } from "./global-setup.ts";
import { MOMENT, PAGES, VIEWS } from "./pages/all-pages.ts";

await setup();
const files = await readConsoleFiles();
if (files === null) throw new Error("the pages were not built");
const control = createFakeControl();
const [browser, url] = await Promise.all([startBrowser(), serveFakeControl(control, files)]);
try {
  const { page } = await openPage(browser, url, { at: new Date(MOMENT) });
  const pages = PAGES.map(({ route, path, live, shows }) => ({
    name: pictureName(route),
    path,
    answers: live,
    shows,
    pressed: undefined,
  }));
  const named = process.argv.slice(2);
  const drawn = [...pages, ...VIEWS].filter(({ name }) => named.length === 0 || named.includes(name));
  for (const { name, path, answers, shows, pressed } of drawn) {
    await page.goto("about:blank");
    control.answer(answers);
    await page.goto(url + path);
    if (pressed !== undefined) await page.getByText(pressed).first().click();
    for (const text of shows) await page.getByText(text).first().waitFor();
    const bytes = await keepPictures(page, name);
    process.stdout.write(`${name}: ${(bytes / 1024).toFixed(0)} KB\n`);
  }
} finally {
  await browser.close();
}
// The fake control would go on listening.
process.exit();
