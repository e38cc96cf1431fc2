/** Tables that a process of control reads only up to where the test lets it, put in the place of `createTable`. */
type TableModule = typeof import("@posthaste/kafka/log/table");

/** Whether tables that are made now are held back by `holdBack`. */
let areLate = false;
let goOn: Promise<void> = Promise.resolve();
let asked: () => void = () => undefined;

/** For `vi.mock`. */
export function withLateTables(original: TableModule): TableModule {
  const createTable: TableModule["createTable"] = async (connection, options) => {
    if (!areLate) return original.createTable(connection, options);
    const prefetch = async (bytes: Buffer): Promise<void> => {
      await goOn;
      await options.prefetch?.(bytes);
    };
    const table = await original.createTable(connection, { ...options, prefetch });
    const refresh = async (): Promise<void> => {
      // As long as it takes: how long it may is for NH2 of late-records.ts, which has a test of its own.
      const read = table.refresh(60_000);
      asked();
      await read;
    };
    return new Proxy(table, {
      get: (target, name) => {
        const value: unknown = name === "refresh" ? refresh : Reflect.get(target, name, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  };
  return { ...original, createTable };
}

/** Runs `start`; all tables that it opens can be held back. */
export async function withLateReading<T>(start: () => Promise<T>): Promise<T> {
  areLate = true;
  try {
    return await start();
  } finally {
    areLate = false;
  }
}

/**
 * Reads no record in late tables from when `write` begins until `ask`, which begins when that is done, waits for one of
 * them to be read to its end, or has its answer without that.
 */
export async function beforeItIsRead<W, T>(write: () => Promise<W>, ask: (written: W) => Promise<T>): Promise<T> {
  const held = Promise.withResolvers<void>();
  goOn = held.promise;
  try {
    const written = await write();
    const question = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const answer = ask(written);
    await Promise.race([question, answer.catch(() => undefined)]);
    held.resolve();
    return await answer;
  } finally {
    held.resolve();
  }
}
