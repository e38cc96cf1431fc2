/**
 * One process's way to the brokers: requests take a while each way, and while the process is cut off nothing passes.
 *
 * Owns: nothing but the process's cut. A request that reached the brokers is served whatever becomes of the process.
 * NW1  Of a request that meets a cut, on its way there or back, the process learns nothing but that the connection was
 *      cut, and that when the cut is over.
 */

import { type Random, wholeBetween } from "@posthaste/testkit/random";
import { connectionError } from "./broker-errors.ts";
import type { TimerOwner, World } from "./world.ts";

/** How a request is answered, once and perhaps later. */
export interface Answer<R> {
  readonly resolve: (result: R) => void;
  readonly reject: (error: Error) => void;
}

const LONGEST_WAY_MS = 4;

export class Network {
  readonly #world: World;
  readonly #random: Random;
  readonly #owner: TimerOwner;
  #cutUntilMs = 0;
  #slowByMs = 0;
  #lastTroubleMs = Number.NEGATIVE_INFINITY;

  constructor(world: World, random: Random, owner: TimerOwner) {
    this.#world = world;
    this.#random = random;
    this.#owner = owner;
  }

  /** Nothing passes for so long. */
  cut(forMs: number): void {
    this.#cutUntilMs = Math.max(this.#cutUntilMs, this.#world.nowMs + forMs);
    this.#lastTroubleMs = Math.max(this.#lastTroubleMs, this.#cutUntilMs);
  }

  /** Every answer takes so much longer, for so long. */
  slow(byMs: number, forMs: number): void {
    this.#slowByMs = byMs;
    this.#lastTroubleMs = Math.max(this.#lastTroubleMs, this.#world.nowMs + forMs + byMs);
    this.#world.after(forMs, this.#owner, () => {
      this.#slowByMs = 0;
    });
  }

  /** Ms since the way was last in trouble; negative while it is. */
  get quietForMs(): number {
    return this.#world.nowMs - this.#lastTroubleMs;
  }

  /**
   * Asks the brokers; `serve` runs when the request has arrived there. `isGone`: the client was destroyed meanwhile.
   */
  ask<R>(serve: (answer: Answer<R>) => void, isGone: () => boolean = () => false): Promise<R> {
    const world = this.#world;
    return new Promise<R>((resolve, reject) => {
      let isAnswered = false;
      const answer = (settle: () => void) => {
        if (isAnswered) return;
        isAnswered = true;
        const backMs = this.#wayMs() + this.#slowByMs;
        world.after(backMs, this.#owner, () => {
          if (isGone()) reject(connectionError());
          else this.#pass(settle, reject);
        });
      };
      const arrive = () =>
        serve({ resolve: (result) => answer(() => resolve(result)), reject: (error) => answer(() => reject(error)) });
      const wayMs = this.#wayMs();
      if (world.nowMs + wayMs < this.#cutUntilMs) this.#pass(() => undefined, reject);
      else world.after(wayMs, null, arrive);
    });
  }

  /** NW1. */
  #pass(settle: () => void, reject: (error: Error) => void): void {
    const heldMs = this.#cutUntilMs - this.#world.nowMs;
    if (heldMs <= 0) settle();
    else this.#world.after(heldMs + this.#wayMs(), this.#owner, () => reject(connectionError()));
  }

  #wayMs(): number {
    return wholeBetween(this.#random, 1, LONGEST_WAY_MS * 4) / 4;
  }
}
