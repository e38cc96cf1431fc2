/** Reads of the control API as queries: data stays on the page while it is read again. */
import { queryOptions } from "@tanstack/react-query";
import { type CallInput, call, type OperationName } from "./client.ts";

/** The query of one operation with one input. */
export function asked<Name extends OperationName & `GET ${string}`>(name: Name, input: CallInput<Name>) {
  return queryOptions({
    queryKey: [name, input] as const,
    queryFn: ({ signal }) => call(name, { ...input, signal }),
  });
}
