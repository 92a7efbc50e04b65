/** Copies a JSON value, so that a policy cannot change what other requests, rules or logs read. */
export function frozenCopy<Value>(value: Value): Value {
  // `as`: a copy has the type of what it copies.
  return copyOf(value) as Value;
}

function copyOf(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return Object.freeze(value.map((each) => copyOf(each)));
  const entries = Object.entries(value).map(([name, each]) => [name, copyOf(each)] as const);
  return Object.freeze(Object.fromEntries(entries));
}
