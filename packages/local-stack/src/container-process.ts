/**
 * A StackProcess as a container: to hang it is to pause the container. Its process id is the host's, where the host is
 * Linux.
 */
import { type GenericContainer, getContainerRuntimeClient, type StartedTestContainer } from "testcontainers";
import { StackError } from "./stack-error.ts";
import { STOP_DEADLINE_MS, type StackProcess } from "./stack-process.ts";

const POLL_MS = 100;
/** Also how long the container itself may take to come up. */
export const READY_TIMEOUT_MS = 120_000;

export interface ContainerProcessOptions {
  readonly name: string;
  readonly container: GenericContainer;
  /** Asked again and again after the start, until true. A throw counts as false. */
  readonly isReady: () => Promise<boolean>;
}

export class ContainerProcess implements StackProcess {
  readonly #options: ContainerProcessOptions;
  /** From the first start on: a container that is down is started again, not made again. */
  #started: StartedTestContainer | undefined;
  #pid: number | undefined;

  /** A container that is not made yet. */
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

  /** The container as the runtime knows it. Rejects before the first start. */
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
