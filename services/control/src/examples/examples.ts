/** A request and an answer of each operation, for `/openapi.json`. A test tries each against a real control. */
import type { OperationExample } from "@posthaste/http-kit/openapi";
import examples from "./examples.json" with { type: "json" };

/** By operation. */
export const EXAMPLES: Readonly<Record<string, OperationExample>> = examples;
