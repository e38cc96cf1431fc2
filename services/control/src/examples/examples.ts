/** What each operation is asked and answers, for `/openapi.json`. Each is tried by a test against a real control. */
import type { OperationExample } from "../http/openapi.ts";
import examples from "./examples.json" with { type: "json" };

/** By operation. */
export const EXAMPLES: Readonly<Record<string, OperationExample>> = examples;
