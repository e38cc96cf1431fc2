/** What each operation is asked and answers, for `/openapi.json`. Each is tried by a test against a real control. */
import type { OperationExample } from "@posthaste/http-kit/openapi";
import examples from "./examples.json" with { type: "json" };

/** By operation. */
export const EXAMPLES: Readonly<Record<string, OperationExample>> = examples;
