/**
 * Makes a folder that is either whole or absent: it is filled under another name and renamed. When two processes make
 * the folder at once, each fills its own, and the folder of one of them stays.
 */
import { mkdir, mkdtemp, readdir, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

/** Nobody takes longer to fill a folder, in ms; an older folder under another name was left by a killed process. */
const FILLING_LIMIT_MS = 180_000;

export interface Filling {
  /** The path that is filled and then becomes the folder. */
  readonly kept: string;
  /** A path for temporary files. It is removed when the folder is made, or when it cannot be made. */
  readonly scratch: string;
}

/**
 * Makes the folder, and those above it. When `fill` rejects, it rejects with the same error and leaves nothing behind.
 */
export async function makeWholeFolder(folder: string, fill: (filling: Filling) => Promise<void>): Promise<void> {
  await mkdir(dirname(folder), { recursive: true });
  const filling = await mkdtemp(fillingPrefix(folder));
  try {
    const [kept, scratch] = [join(filling, "kept"), join(filling, "scratch")];
    await mkdir(kept);
    await mkdir(scratch);
    await fill({ kept, scratch });
    await rename(kept, folder).catch(async (error: unknown) => {
      // Another process was faster.
      if (!(await isFolder(folder))) throw error;
    });
  } finally {
    await rm(filling, { recursive: true, force: true });
  }
}

/** True while some process fills the folder. */
export async function isBeingMade(folder: string): Promise<boolean> {
  const above = dirname(folder);
  const names = await readdir(above).catch(() => []);
  for (const name of names.filter((each) => each.startsWith(basename(fillingPrefix(folder))))) {
    const found = await stat(join(above, name)).catch(() => undefined);
    if (found !== undefined && Date.now() - found.mtimeMs < FILLING_LIMIT_MS) return true;
  }
  return false;
}

function fillingPrefix(folder: string): string {
  return `${folder}-filling-`;
}

export async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
