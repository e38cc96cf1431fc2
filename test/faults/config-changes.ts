/** Random changes of the configuration by several controls at once, as many clients make them who know of no other. */
import { createRandom, type Random, wholeBetween } from "@posthaste/testkit/random";

/** How each control may be asked. */
export type Ask = (method: string, path: string, body?: unknown) => Promise<Asked>;

export interface Asked {
  readonly status: number;
  /** The parsed body; undefined when there is none. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads the expected fields and fails on a missing one
  readonly body: any;
}

export interface ConfigChangesOptions {
  /** One a control. */
  readonly controls: readonly Ask[];
  readonly changes: number;
  readonly seed: number;
  /** The destinations' URLs begin with it. */
  readonly urlBase: string;
}

/** The changes made, which nobody can ask control for later. */
export interface ConfigChanges {
  /** The write key of each source that ever was, by the source's id. */
  readonly writeKeys: ReadonlyMap<string, string>;
  /** Answers by status. */
  readonly answers: Readonly<Record<number, number>>;
}

type Kind = "sources" | "destinations" | "tokens";

/** As often as each is changed. */
const KINDS: readonly Kind[] = ["sources", "sources", "destinations", "destinations", "destinations", "tokens"];
/** Changes under way at each control. */
const AT_ONCE = 8;
/** Few of each, so that many changes meet. */
const MOST: Readonly<Record<Kind, number>> = { sources: 20, destinations: 30, tokens: 20 };
/**
 * Statuses that others' changes explain: it was removed (404), was changed since (409), or names a source that was
 * removed (400). Where a busy broker did not answer in time (503) the change was made or was not.
 */
const EXPECTED = new Set([200, 201, 204, 400, 404, 409, 503]);

/** Throws for an answer that neither another change explains nor a busy broker. */
export async function changeConfig(options: ConfigChangesOptions): Promise<ConfigChanges> {
  const run = new ConfigRun(options);
  await Promise.all(options.controls.flatMap((ask) => Array.from({ length: AT_ONCE }, () => run.work(ask))));
  return { writeKeys: run.writeKeys, answers: run.answers };
}

class ConfigRun {
  readonly writeKeys = new Map<string, string>();
  readonly answers: Record<number, number> = {};
  readonly #options: ConfigChangesOptions;
  readonly #random: Random;
  readonly #ids: Record<Kind, string[]> = { sources: [], destinations: [], tokens: [] };
  #left: number;
  #number = 0;

  constructor(options: ConfigChangesOptions) {
    this.#options = options;
    this.#random = createRandom(options.seed);
    this.#left = options.changes;
  }

  async work(ask: Ask): Promise<void> {
    while (this.#left > 0) {
      this.#left -= 1;
      const kind = this.#oneOf(KINDS) ?? "tokens";
      const id = this.#oneOf(this.#ids[kind]);
      const isFull = this.#ids[kind].length >= MOST[kind];
      if (id === undefined || (!isFull && this.#random() < 0.3)) await this.#create(ask, kind);
      else if (kind === "tokens" || this.#random() < 0.15) await this.#remove(ask, kind, id);
      else await this.#patch(ask, kind, id);
    }
  }

  async #create(ask: Ask, kind: Kind): Promise<void> {
    const { status, body } = await this.#asked(ask, "POST", `/v1/${kind}`, this.#created(kind));
    if (status !== 201) return;
    this.#ids[kind].push(body.id);
    if (kind === "sources") this.writeKeys.set(body.id, body.writeKey);
  }

  async #remove(ask: Ask, kind: Kind, id: string): Promise<void> {
    this.#ids[kind] = this.#ids[kind].filter((each) => each !== id);
    await this.#asked(ask, "DELETE", `/v1/${kind}/${id}`);
  }

  /** Half of them name the revision that they were made from, which may be an older one by then. */
  async #patch(ask: Ask, kind: Kind, id: string): Promise<void> {
    const patch = this.#patched(kind);
    if (this.#random() < 0.5) {
      await this.#asked(ask, "PATCH", `/v1/${kind}/${id}`, patch);
      return;
    }
    const { status, body } = await ask("GET", `/v1/${kind}/${id}`);
    if (status === 200) await this.#asked(ask, "PATCH", `/v1/${kind}/${id}`, { ...patch, revision: body.revision });
  }

  #created(kind: Kind): object {
    const name = this.#name();
    if (kind === "sources") return { name, kind: "server" };
    if (kind === "tokens") return { name, scopes: ["read"] };
    const settings = { sharedSecret: `secret of ${name}`, urls: [{ url: this.#url() }] };
    return { type: "Webhooks", name, sourceIds: this.#someSources(), enabled: true, settings };
  }

  #patched(kind: Kind): object {
    const enabled = this.#random() < 0.8;
    if (kind === "sources") return this.#oneOf<object>([{ name: this.#name() }, { enabled }]) ?? {};
    const settings = { urls: [{ url: this.#url() }] };
    return this.#oneOf<object>([{ enabled }, { sourceIds: this.#someSources() }, { settings }]) ?? {};
  }

  async #asked(ask: Ask, method: string, path: string, body?: unknown): Promise<Asked> {
    const answer = await ask(method, path, body);
    if (!EXPECTED.has(answer.status)) {
      throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}, seed ${this.#options.seed}`);
    }
    this.answers[answer.status] = (this.answers[answer.status] ?? 0) + 1;
    return answer;
  }

  #name(): string {
    this.#number += 1;
    return `change ${this.#number}`;
  }

  #url(): string {
    this.#number += 1;
    return `${this.#options.urlBase}/${this.#number}`;
  }

  #someSources(): readonly string[] {
    const ids = this.#ids.sources;
    const some = Array.from({ length: wholeBetween(this.#random, 1, 3) }, () => this.#oneOf(ids) ?? "");
    return [...new Set(some)].filter((id) => id !== "");
  }

  #oneOf<T>(values: readonly T[]): T | undefined {
    return values[Math.floor(this.#random() * values.length)];
  }
}
