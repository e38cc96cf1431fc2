/** The five operations on things that have an id: list, create, show, change and remove. */

import type { Author } from "@posthaste/core/access/author";
import type { z } from "zod";
import type { FreshAnswer } from "./freshness.ts";
import { type Page, type PageQuery, pageQuery } from "./page.ts";
import { defineRoute, type Named, type Route } from "./route.ts";

export interface ResourceHandlers<Input, Patch, Answer> {
  list(query: PageQuery, by: Author): Page<Answer> & FreshAnswer;
  create(input: Input, by: Author): Promise<Answer>;
  get(id: string, by: Author): Promise<Answer>;
  change(id: string, patch: Patch, by: Author): Promise<Answer>;
  remove(id: string, by: Author): Promise<void>;
}

export interface ResourceDefinition<Input extends z.ZodType, Patch extends z.ZodType, Answer extends z.ZodType> {
  /** The name in paths: `sources`. */
  readonly plural: string;
  /** The name in operations: `Source`. */
  readonly noun: string;
  readonly input: Input;
  readonly patch: Patch;
  readonly answer: Named<Answer>;
  readonly page: Named;
  /** The effects of creating, changing and removing a resource, in a sentence each. */
  readonly summaries: { readonly create: string; readonly change: string; readonly remove: string };
  readonly handlers: ResourceHandlers<z.output<Input>, z.output<Patch>, z.input<Answer>>;
}

export function resourceRoutes<Input extends z.ZodType, Patch extends z.ZodType, Answer extends z.ZodType>(
  definition: ResourceDefinition<Input, Patch, Answer>,
): readonly Route[] {
  const { plural, noun, input, patch, answer, page, summaries, handlers } = definition;
  const all = `/v1/${plural}`;
  const one: `${string}/{id}` = `${all}/{id}`;
  const thing = noun.toLowerCase();
  const shown = { description: `The ${thing}.`, body: answer };
  return [
    defineRoute({
      method: "GET",
      path: all,
      operation: `list${capitalized(plural)}`,
      summary: `${capitalized(plural)}, oldest first`,
      query: pageQuery,
      answer: { status: 200, description: `One page of ${plural}.`, body: page },
      handle: ({ query, by }) => handlers.list(query, by),
    }),
    defineRoute({
      method: "POST",
      path: all,
      operation: `create${noun}`,
      summary: summaries.create,
      body: { name: `${noun}Input`, schema: input },
      answer: { status: 201, ...shown },
      handle: ({ body, by }) => handlers.create(body, by),
    }),
    defineRoute({
      method: "GET",
      path: one,
      operation: `get${noun}`,
      summary: `One ${thing}`,
      answer: { status: 200, ...shown },
      refusals: ["not_found"],
      handle: ({ params, by }) => handlers.get(params.id, by),
    }),
    defineRoute({
      method: "PATCH",
      path: one,
      operation: `change${noun}`,
      summary: summaries.change,
      body: { name: `${noun}Patch`, schema: patch },
      answer: { status: 200, description: `The ${thing} after the change.`, body: answer },
      refusals: ["not_found", "conflict"],
      handle: ({ params, body, by }) => handlers.change(params.id, body, by),
    }),
    defineRoute({
      method: "DELETE",
      path: one,
      operation: `remove${noun}`,
      summary: summaries.remove,
      answer: { status: 204, description: "It is gone." },
      refusals: ["not_found"],
      handle: ({ params, by }) => handlers.remove(params.id, by),
    }),
  ];
}

const capitalized = (word: string) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
