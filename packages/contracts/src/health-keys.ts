/** The keys of records of `posthaste.destination-health`. */

const PROCESS = "process";

/** The key of the record in which a process tells how a destination is. */
export function destinationHealthKey(destinationId: string, instance: string): string {
  return `${destinationId}:${instance}`;
}

/** The key of the record in which a process tells how it is itself. */
export function processHealthKey(instance: string): string {
  return `${PROCESS}:${instance}`;
}

/** The process and the destination that a key names. The destination is null in a record of the process itself. */
export function readHealthKey(key: string): { readonly instance: string; readonly destinationId: string | null } {
  const at = key.lastIndexOf(":");
  const named = key.slice(0, at);
  return { instance: key.slice(at + 1), destinationId: named === PROCESS ? null : named };
}
