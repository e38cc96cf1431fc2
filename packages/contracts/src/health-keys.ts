/** Keys of `posthaste.destination-health`. */

const PROCESS = "process";

/** The key of what a process says of a destination. */
export function destinationHealthKey(destinationId: string, instance: string): string {
  return `${destinationId}:${instance}`;
}

/** The key of what a process says of itself. */
export function processHealthKey(instance: string): string {
  return `${PROCESS}:${instance}`;
}

/** The process that a key is of, and its destination, which is null where the key is of the process itself. */
export function readHealthKey(key: string): { readonly instance: string; readonly destinationId: string | null } {
  const at = key.lastIndexOf(":");
  const named = key.slice(0, at);
  return { instance: key.slice(at + 1), destinationId: named === PROCESS ? null : named };
}
