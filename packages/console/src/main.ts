/**
 * Begins: the data that every page reads is asked for while the console's own script is still on its way. Small, and
 * without imports, so that nothing goes before it.
 */
import type { EarlyAnswers } from "./api/early.ts";

const EARLY = ["/v1/session", "/v1/status"];

// A sign-in link opens the session itself.
const early: EarlyAnswers = new Map(location.hash === "" ? EARLY.map((path) => [path, fetch(path)]) : []);
// Told where the answer is taken.
for (const answer of early.values()) answer.catch(() => {});

void import("./console.tsx").then(({ showConsole }) => showConsole(early));
