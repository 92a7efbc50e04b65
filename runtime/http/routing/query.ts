/**
 * Returns the first value of a query parameter, decoded (`+` is a space); `undefined` if it is absent. Values with an invalid
 * percent-encoding stay unchanged.
 */
export function queryValue(query: string, name: string): string | undefined {
  const at = parameterAt(query, name, 0);
  return at === -1 ? undefined : valueAt(query, at);
}

/** Returns the first value of a query parameter that differs from its first one; `undefined` if all are equal. */
export function otherQueryValue(query: string, name: string): string | undefined {
  let first: string | undefined;
  for (let at = parameterAt(query, name, 0); at !== -1; ) {
    const value = valueAt(query, at);
    first ??= value;
    if (value !== first) return value;
    const next = query.indexOf("&", at);
    at = next === -1 ? -1 : parameterAt(query, name, next + 1);
  }
  return undefined;
}

/** Removes the query parameters of a name from a request target; the others stay unchanged. */
export function withoutParameter(target: string, name: string): string {
  const start = target.indexOf("?");
  if (start === -1) return target;
  const kept = target
    .slice(start + 1)
    .split("&")
    .filter((pair) => decode(pair.split("=", 1)[0] ?? "") !== name)
    .join("&");
  const path = target.slice(0, start);
  return kept === "" ? path : `${path}?${kept}`;
}

/** Whether there is a value that passes the test. */
export function holds(value: string | undefined, test: (value: string) => boolean): boolean {
  return value !== undefined && test(value);
}

/** Returns the start of the next pair with that name, or -1. */
function parameterAt(query: string, name: string, from: number): number {
  for (let start = from; start < query.length; ) {
    const next = query.indexOf("&", start);
    const end = next === -1 ? query.length : next;
    const equals = query.indexOf("=", start);
    const nameEnd = equals === -1 || equals > end ? end : equals;
    if (decode(query.slice(start, nameEnd)) === name) return start;
    start = end + 1;
  }
  return -1;
}

function valueAt(query: string, start: number): string {
  const next = query.indexOf("&", start);
  const end = next === -1 ? query.length : next;
  const equals = query.indexOf("=", start);
  return equals === -1 || equals > end ? "" : decode(query.slice(equals + 1, end));
}

function decode(text: string): string {
  if (!text.includes("%") && !text.includes("+")) return text;
  const spaced = text.replaceAll("+", " ");
  try {
    return decodeURIComponent(spaced);
  } catch {
    return spaced;
  }
}
