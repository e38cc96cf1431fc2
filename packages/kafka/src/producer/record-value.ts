/** The value of a record that is to be sent: bytes, or a function that makes them. */

/** A value that is made each time that it is sent, so that it takes next to no memory while it waits. */
export interface LateValue {
  /** An upper bound of the value's bytes. */
  readonly length: number;
  readonly make: () => Buffer;
}

export type RecordValue = Buffer | LateValue;

/** The bytes to send. */
export function makeValue(value: RecordValue | null): Buffer | null {
  return value !== null && "make" in value ? value.make() : value;
}
