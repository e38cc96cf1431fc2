/** A promise and the function that resolves it. */
export class Deferred<T> {
  readonly promise: Promise<T>;
  #resolve: (value: T) => void = () => {};

  constructor() {
    this.promise = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  /** Resolves the promise; later calls change nothing. */
  resolve(value: T): void {
    this.#resolve(value);
  }
}
