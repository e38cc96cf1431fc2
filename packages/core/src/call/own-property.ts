/** Sets an own property whatever its key is: a plain assignment to `__proto__` would set none. */
export function setOwn<Value>(object: Record<string, Value>, key: string, value: Value): void {
  if (key !== "__proto__") object[key] = value;
  else Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
}
