/**
 * The first value of a query parameter, decoded (`+` is a space); undefined when it is not there. Values that are no
 * valid percent-encoding stay as they are.
 */
export function queryValue(query: string, name: string): string | undefined {
  let start = 0;
  while (start < query.length) {
    const next = query.indexOf("&", start);
    const end = next === -1 ? query.length : next;
    const equals = query.indexOf("=", start);
    const nameEnd = equals === -1 || equals > end ? end : equals;
    if (decode(query.slice(start, nameEnd)) === name) return decode(query.slice(nameEnd + 1, end));
    start = end + 1;
  }
  return undefined;
}

/** A request target without the query parameters of that name; the others stay as they are. */
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

/** Whether there is a value and it passes the test. */
export function holds(value: string | undefined, test: (value: string) => boolean): boolean {
  return value !== undefined && test(value);
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
