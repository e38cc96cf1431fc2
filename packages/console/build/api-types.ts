/**
 * The TypeScript of the control API, from its OpenAPI document: a type for each schema, and for each operation, by
 * method and path, its parameters, query, body and answer. Only features that control's schemas use are known; anything
 * else throws.
 */

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly description?: string;
}

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema?: Schema; readonly example?: unknown }>>;
}

interface Operation {
  readonly deprecated?: boolean;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required: boolean;
    readonly schema: Schema;
  }[];
  readonly requestBody?: Content & { readonly required: boolean };
  readonly responses: Readonly<Record<string, Content>>;
}

export interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** The text of a module. */
export function apiTypes({ paths, components }: ApiDocument): string {
  const schemas = Object.entries(components.schemas).map(
    ([name, schema]) => `export type ${name} = ${typeOf(schema)};`,
  );
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { deprecated = false }]) => !deprecated)
      .map(
        ([method, operation]) => `  ${JSON.stringify(`${method.toUpperCase()} ${path}`)}: ${operationType(operation)};`,
      ),
  );
  return [
    "// Made from openapi.json by `npm run console:api`; not to be edited.",
    schemas.join("\n"),
    `export interface Operations {\n${operations.join("\n")}\n}`,
    "",
  ].join("\n\n");
}

function operationType({ parameters = [], requestBody, responses }: Operation): string {
  const of = (place: string): string => {
    const found = parameters.filter((parameter) => parameter.in === place);
    return `{ ${found.map(({ name, required, schema }) => `${keyOf(name)}${required ? "" : "?"}: ${typeOf(schema)}`).join("; ")} }`;
  };
  const body = schemaOf(requestBody);
  const success = Object.entries(responses).find(([status]) => status.startsWith("2"))?.[1];
  const answer = schemaOf(success);
  return `{ params: ${of("path")}; query: ${of("query")}; body: ${body}; answer: ${answer} }`;
}

function schemaOf(content: Content | undefined): string {
  const schema = content?.content?.["application/json"]?.schema;
  return schema === undefined ? "undefined" : typeOf(schema);
}

function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) return schema.$ref.replace("#/components/schemas/", "");
  if ("const" in schema) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((each) => JSON.stringify(each)).join(" | ");
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return choices.map((each) => `(${typeOf(each)})`).join(" | ");
  if (schema.allOf !== undefined) return schema.allOf.map((each) => `(${typeOf(each)})`).join(" & ");
  const { type } = schema;
  if (typeof type === "object") return type.map((each) => `(${typeOf({ ...schema, type: each })})`).join(" | ");
  switch (type) {
    case "string":
    case "boolean":
    case "null":
      return type;
    case "integer":
    case "number":
      return "number";
    case "array":
      return `readonly (${schema.items === undefined ? "unknown" : typeOf(schema.items)})[]`;
    case "object":
      return objectType(schema);
    default:
      if (type === undefined) return "unknown";
      throw new Error(`a schema of the type ${type} has no type here: teach build/api-types.ts`);
  }
}

function objectType({ properties, required = [], additionalProperties }: Schema): string {
  const rest =
    typeof additionalProperties === "object" && Object.keys(additionalProperties).length > 0
      ? typeOf(additionalProperties)
      : "unknown";
  if (properties === undefined) return `{ readonly [key: string]: ${rest} }`;
  const members = Object.entries(properties).map(([name, schema]) => {
    const isRequired = required.includes(name);
    return `readonly ${keyOf(name)}${isRequired ? "" : "?"}: ${typeOf(schema)}${isRequired ? "" : " | undefined"}`;
  });
  return `{ ${members.join("; ")} }`;
}

function keyOf(name: string): string {
  return /^[a-zA-Z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
}
