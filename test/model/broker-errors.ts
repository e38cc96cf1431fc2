/** Errors as kafkajs makes them, told by name and type. */

/** A broker's answer that is an error. */
export function protocolError(type: string): Error {
  return Object.assign(new Error(type), { name: "KafkaJSProtocolError", type, retriable: true });
}

/** The way to the broker failed: nobody knows the fate of the request. */
export function connectionError(): Error {
  return Object.assign(new Error("the connection was cut"), { name: "KafkaJSConnectionError", retriable: true });
}

export function errorType(error: unknown): string | null {
  const type = error instanceof Error ? Reflect.get(error, "type") : null;
  return typeof type === "string" ? type : null;
}

export function isConnectionError(error: unknown): boolean {
  return error instanceof Error && error.name === "KafkaJSConnectionError";
}
