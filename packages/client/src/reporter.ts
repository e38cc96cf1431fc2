/**
 * Reports the fate of the program's calls.
 *
 * - A callback's exception or rejection stays here: it is the program's fault and must not cost other calls.
 * - Without `onError` a failure is written for the operator, at most one line in ten seconds with the count of all
 *   since the last, so that an outage does not fill a disk.
 */
import { toMessage } from "./batch.ts";
import type { Environment } from "./environment.ts";
import type { AnalyticsError } from "./errors.ts";
import type { ResolvedOptions } from "./options.ts";

const WARNING_INTERVAL_MS = 10_000;

export class Reporter {
  readonly #onError: ResolvedOptions["onError"];
  readonly #onSuccess: ResolvedOptions["onSuccess"];
  readonly #environment: Environment;
  #nextWarningMs = Number.NEGATIVE_INFINITY;
  #unreported = 0;

  constructor({ onError, onSuccess }: ResolvedOptions, environment: Environment) {
    this.#onError = onError;
    this.#onSuccess = onSuccess;
    this.#environment = environment;
  }

  /** The calls, as the JSON texts that were or would have been sent, were taken by the server. */
  delivered(texts: readonly string[]): void {
    this.#environment.debug?.(`analytics: delivered ${texts.length}`);
    const onSuccess = this.#onSuccess;
    if (onSuccess !== undefined && texts.length > 0) this.#call("onSuccess", () => onSuccess(texts.map(toMessage)));
  }

  /** The calls were not delivered and will not be tried again. */
  failed(error: AnalyticsError, texts: readonly string[]): void {
    this.#environment.debug?.(`analytics: gave up ${texts.length}: ${error.code}, ${error.message}`);
    const onError = this.#onError;
    if (onError === undefined) this.#warn(error, texts.length);
    else this.#call("onError", () => onError(error, texts.map(toMessage)));
  }

  #call(name: string, callback: () => unknown): void {
    const onFailure = (reason: unknown) => this.#environment.warn(`analytics: ${name} failed: ${String(reason)}`);
    try {
      // An async function fits a callback's type too.
      Promise.resolve(callback()).catch(onFailure);
    } catch (reason) {
      onFailure(reason);
    }
  }

  #warn(error: AnalyticsError, count: number): void {
    this.#unreported += count;
    const nowMs = this.#environment.nowMs();
    if (nowMs < this.#nextWarningMs) return;
    this.#environment.warn(`analytics: ${this.#unreported} calls were not delivered: ${error.message}`);
    this.#unreported = 0;
    this.#nextWarningMs = nowMs + WARNING_INTERVAL_MS;
  }
}
