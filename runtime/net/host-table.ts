/** Values by host name: exact names, wildcards, and `*`. Created by `hostTable`. */
export interface HostTable<Value> {
  readonly exact: ReadonlyMap<string, Value>;
  /** Keys are what follows the `*`: `.example.com`. */
  readonly wildcards: ReadonlyMap<string, Value>;
  /** Lengths of the wildcards' keys, longest first. */
  readonly lengths: readonly number[];
  readonly everyName: Value | undefined;
}

/**
 * Creates a table of exact names, wildcards (`*.example.com`: one or more labels in front, as in Gateway API) and `*`. Names
 * are lower case and unique.
 */
export function hostTable<Value>(rows: readonly (readonly [string, Value])[]): HostTable<Value> {
  const wildcards = new Map(
    rows.flatMap(([hostname, value]) =>
      hostname.startsWith("*.") ? [[hostname.slice(1), value] as const] : [],
    ),
  );
  return {
    exact: new Map(rows.filter(([hostname]) => !hostname.startsWith("*"))),
    wildcards,
    lengths: lengthsOf(wildcards),
    everyName: rows.find(([hostname]) => hostname === "*")?.[1],
  };
}

/** Returns the value of the most specific name that matches a host name; `undefined` if none matches. */
export function valueForHost<Value>(table: HostTable<Value>, hostname: string): Value | undefined {
  return findForHost(table, hostname, itself, undefined);
}

/**
 * Calls `find` with the values of matching names, most specific first, until it returns something. `subject` is passed on, so
 * that `find` needs no closure.
 */
export function findForHost<Value, Subject, Found>(
  table: HostTable<Value>,
  hostname: string,
  find: (value: Value, subject: Subject) => Found | undefined,
  subject: Subject,
): Found | undefined {
  const { exact, wildcards, lengths, everyName } = table;
  const own = exact.size === 0 ? undefined : exact.get(hostname);
  if (own !== undefined) {
    const found = find(own, subject);
    if (found !== undefined) return found;
  }
  for (const length of lengths) {
    const start = hostname.length - length;
    if (start < 0 || hostname.charCodeAt(start) !== DOT) continue;
    const value = wildcards.get(hostname.slice(start));
    const found = value === undefined ? undefined : find(value, subject);
    if (found !== undefined) return found;
  }
  return everyName === undefined ? undefined : find(everyName, subject);
}

/** Returns the lengths of a table's keys, each once, longest first. */
export function lengthsOf(table: ReadonlyMap<string, unknown>): readonly number[] {
  return [...new Set([...table.keys()].map((key) => key.length))].sort((a, b) => b - a);
}

const DOT = 0x2e;

function itself<Value>(value: Value): Value {
  return value;
}
