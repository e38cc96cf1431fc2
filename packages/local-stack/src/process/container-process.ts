/**
 * A StackProcess in a container. To hang the process, this pauses the container. The process id is the host's where the
 * host is Linux.
 */
import { type GenericContainer, getContainerRuntimeClient, type StartedTestContainer } from "testcontainers";
import { StackError } from "./stack-error.ts";
import { STOP_DEADLINE_MS, type StackProcess } from "./stack-process.ts";

const POLL_MS = 100;
/** How long the process may take to be ready, and the container to come up, in ms. */
export const READY_TIMEOUT_MS = 120_000;

export interface ContainerProcessOptions {
  readonly name: string;
  readonly container: GenericContainer;
  /** Called again and again after the start until it answers true. An error counts as false. */
  readonly isReady: () => Promise<boolean>;
}

export class ContainerProcess implements StackProcess {
  readonly #options: ContainerProcessOptions;
  /** The container, from the first start on. A later start starts the same container again. */
  #started: StartedTestContainer | undefined;
  #pid: number | undefined;

  /** Makes the process without its container, which the first start makes. */
  constructor(options: ContainerProcessOptions) {
    this.#options = options;
  }

  get name(): string {
    return this.#options.name;
  }

  get logFile(): string {
    return `docker logs ${this.name}`;
  }

  get pid(): number | undefined {
    return this.#pid;
  }

  async start(): Promise<void> {
    if (this.#started) await (await this.#container()).start();
    else {
      this.#started = await this.#options.container.start().catch((error: unknown) => {
        throw new StackError(`${this.name} could not be started as a container: ${String(error)}`);
      });
    }
    this.#pid = (await (await this.#container()).inspect()).State.Pid;
    await this.#untilReady();
  }

  async kill(): Promise<void> {
    if (this.#pid === undefined) return;
    await (await this.#container()).kill();
    this.#pid = undefined;
  }

  async stop(deadlineMs: number = STOP_DEADLINE_MS): Promise<void> {
    if (this.#pid === undefined) return;
    await (await this.#container()).stop({ t: Math.ceil(deadlineMs / 1000) });
    this.#pid = undefined;
  }

  async hang(): Promise<void> {
    await (await this.#container()).pause();
  }

  async resume(): Promise<void> {
    await (await this.#container()).unpause();
  }

  /** Returns the container as the runtime knows it. Rejects before the first start. */
  async #container() {
    if (!this.#started) throw new Error(`${this.name} was never started`);
    return (await getContainerRuntimeClient()).container.getById(this.#started.getId());
  }

  async #untilReady(): Promise<void> {
    const deadline = performance.now() + READY_TIMEOUT_MS;
    while (!(await this.#options.isReady().catch(() => false))) {
      if (performance.now() > deadline)
        throw new StackError(`${this.name} was not ready after ${READY_TIMEOUT_MS / 1000} s`);
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }
}
