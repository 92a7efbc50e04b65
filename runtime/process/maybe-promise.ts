/** A value or a promise of one. Callers continue synchronously if the value is known, which saves a microtask. */
export type MaybePromise<Value> = Value | Promise<Value>;

/** Continues with a value, synchronously if it is known. */
export function thenMaybe<Value, Result>(
  value: MaybePromise<Value>,
  then: (value: Value) => MaybePromise<Result>,
): MaybePromise<Result> {
  return value instanceof Promise ? value.then(then) : then(value);
}
