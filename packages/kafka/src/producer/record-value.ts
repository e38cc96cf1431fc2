/** The value of a record that is to be sent: bytes, or what makes them. */

/**
 * A value that is made when it is sent, and made again when it is sent again: what waits costs next to nothing until
 * then.
 */
export interface LateValue {
  /** Not less than it takes. */
  readonly length: number;
  readonly make: () => Buffer;
}

export type RecordValue = Buffer | LateValue;

/** The bytes to send. */
export function makeValue(value: RecordValue | null): Buffer | null {
  return value !== null && "make" in value ? value.make() : value;
}
