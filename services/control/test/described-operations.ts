/** The operations that `/openapi.json` describes, each at its present path. */
import { readOpenApi, type TestControl } from "./control.ts";

interface Exampled {
  readonly example?: unknown;
}

export interface DescribedOperation {
  readonly operationId: string;
  readonly deprecated?: boolean;
  readonly method: string;
  readonly path: string;
  readonly security: readonly { readonly token: readonly string[] }[];
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly example?: string }[];
  readonly requestBody?: { readonly content: { readonly "application/json": Exampled } };
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, Exampled>> }>>;
}

export async function describedOperations(control: TestControl): Promise<readonly DescribedOperation[]> {
  const { paths } = (await readOpenApi(control)).body;
  return Object.entries<Record<string, Omit<DescribedOperation, "method" | "path">>>(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { deprecated }]) => deprecated !== true)
      .map(([method, operation]) => ({ ...operation, method: method.toUpperCase(), path })),
  );
}
