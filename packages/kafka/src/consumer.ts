/** Windowed consumption of a group's topics (rules C1 to C10, D3, W1 and W3). */
import type { KafkaConnection } from "./connect.ts";
import type { WindowedConsumer, WindowedConsumerOptions } from "./window.ts";

/** Connects nothing before `start`. */
export function createWindowedConsumer<T, F = never>(
  _connection: KafkaConnection,
  _options: WindowedConsumerOptions<T, F>,
): WindowedConsumer {
  throw new Error("not written");
}
