/**
 * A folder that is whole or not there: it is filled under another name and renamed. Of two that make it at once both
 * fill one, and one's stays.
 */
import { mkdir, mkdtemp, readdir, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

/** Nobody takes longer to fill one; what is older was left by a process that was killed. */
const FILLING_LIMIT_MS = 180_000;

export interface Filling {
  /** Becomes the folder. */
  readonly kept: string;
  /** For what is needed meanwhile; goes when the folder is made or cannot be. */
  readonly scratch: string;
}

/** Makes the folder, and those above it. Rejects with what `fill` does, and leaves nothing behind then. */
export async function makeWholeFolder(folder: string, fill: (filling: Filling) => Promise<void>): Promise<void> {
  await mkdir(dirname(folder), { recursive: true });
  const filling = await mkdtemp(fillingPrefix(folder));
  try {
    const [kept, scratch] = [join(filling, "kept"), join(filling, "scratch")];
    await mkdir(kept);
    await mkdir(scratch);
    await fill({ kept, scratch });
    await rename(kept, folder).catch(async (error: unknown) => {
      // Another run was faster.
      if (!(await isFolder(folder))) throw error;
    });
  } finally {
    await rm(filling, { recursive: true, force: true });
  }
}

/** Whether somebody fills it at the moment. */
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
