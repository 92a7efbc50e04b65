/** `a && b && ...` as a value: false wins over an error, an error over true. */
export function and(...operands: readonly unknown[]): boolean | undefined {
  let isFailed = false;
  for (const operand of operands) {
    if (operand === false) return false;
    if (operand !== true) isFailed = true;
  }
  return isFailed ? undefined : true;
}

/** `a || b || ...` as a value: true wins over an error, an error over false. */
export function or(...operands: readonly unknown[]): boolean | undefined {
  let isFailed = false;
  for (const operand of operands) {
    if (operand === true) return true;
    if (operand !== false) isFailed = true;
  }
  return isFailed ? undefined : false;
}

/** `!value`. */
export function not(value: unknown): boolean | undefined {
  return typeof value === "boolean" ? !value : undefined;
}

/** Returns a value if it is a bool. */
export function bool(value: unknown): boolean | undefined {
  return typeof value === "boolean" ? value : undefined;
}

/** `test ? consequent : alternate`, for branches that are cheap to evaluate. */
export function pick<First, Second>(
  test: unknown,
  consequent: First,
  alternate: Second,
): First | Second | undefined {
  if (test === true) return consequent;
  return test === false ? alternate : undefined;
}

/** `test ? consequent() : alternate()`. */
export function choose<First, Second>(
  test: unknown,
  consequent: () => First,
  alternate: () => Second,
): First | Second | undefined {
  if (test === true) return consequent();
  return test === false ? alternate() : undefined;
}

/** `cel.bind(name, value, body)`. */
export function bind<Value, Result>(value: Value, body: (value: Value) => Result): Result {
  return body(value);
}

/** `default(value, fallback)`: the value, or the fallback for an error. */
export function orElse<First, Second>(value: First | undefined, fallback: Second): First | Second {
  return value === undefined ? fallback : value;
}

/** `coalesce(a, b, ...)`: the first that is neither an error nor null, or else the last. */
export function coalesce(...values: readonly unknown[]): unknown {
  return values.find((value) => value !== undefined && value !== null) ?? values.at(-1);
}
