/** What is there already, or comes later: who waits for what is there loses time. */
export type Eventual<Value> = Value | Promise<Value>;

/** Goes on with a value: at once when it is there. */
export function whenThere<Value, Result>(
  value: Eventual<Value>,
  then: (value: Value) => Eventual<Result>,
): Eventual<Result> {
  return value instanceof Promise ? value.then(then) : then(value);
}
