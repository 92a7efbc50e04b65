/** What is there already, or comes later: who waits for what is there loses time. */
export type MaybePromise<Value> = Value | Promise<Value>;

/** Goes on with a value: at once when it is there. */
export function thenMaybe<Value, Result>(
  value: MaybePromise<Value>,
  then: (value: Value) => MaybePromise<Result>,
): MaybePromise<Result> {
  return value instanceof Promise ? value.then(then) : then(value);
}
