/** Finds free TCP ports on 127.0.0.1 for processes that must know their port before they start. */
import { createServer } from "node:net";

/**
 * The range of the ports lies below the range from which systems take outgoing ports. There, a client that tries again
 * and again to reach a broker that is down could be given the broker's own port, and the broker could then not start.
 */
const FIRST_PORT = 20_000;
const LAST_PORT = 31_999;

/** Answers `count` different ports on which nothing listens now. Throws when it cannot find them in reasonable time. */
export async function findFreePorts(count: number, random: () => number = Math.random): Promise<readonly number[]> {
  const found = new Set<number>();
  for (let tries = 0; found.size < count; tries += 1) {
    if (tries > 100 + count) throw new Error(`no free port between ${FIRST_PORT} and ${LAST_PORT}`);
    const port = FIRST_PORT + Math.floor(random() * (LAST_PORT - FIRST_PORT + 1));
    if (await isPortFree(port)) found.add(port);
  }
  return [...found];
}

/** True when nothing listens on the port of 127.0.0.1. */
export function isPortFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
