import { withinLimit } from "../values/values.ts";

/** `header.split()`: the members of a comma-separated header, trimmed, without empty ones (RFC 9110, 5.6.1). */
export function splitHeader(value: unknown): readonly string[] | undefined {
  if (typeof value !== "string") return undefined;
  return value
    .split(",")
    .map((member) => member.trim())
    .filter((member) => member !== "");
}

/** `header.cookie(name)`: a cookie of a Cookie header; an error if it is absent. */
export function cookie(header: unknown, name: unknown): string | undefined {
  if (typeof header !== "string" || typeof name !== "string") return undefined;
  for (const pair of header.split(";")) {
    const equals = pair.indexOf("=");
    if (equals < 0 || pair.slice(0, equals).trim() !== name) continue;
    const value = pair.slice(equals + 1).trim();
    return value.length > 1 && value.startsWith('"') && value.endsWith('"')
      ? value.slice(1, -1)
      : value;
  }
  return undefined;
}

/** `uri.query(name)`: the first value of a query parameter, decoded; an error if it is absent. */
export function query(uri: unknown, name: unknown): string | undefined {
  if (typeof uri !== "string" || typeof name !== "string") return undefined;
  return new URLSearchParams(partsOf(uri).query).get(name) ?? undefined;
}

/** `uri.addQuery(name, value)`: with another parameter at the end. */
export function addQuery(uri: unknown, name: unknown, value: unknown): string | undefined {
  if (typeof uri !== "string" || typeof name !== "string" || typeof value !== "string") {
    return undefined;
  }
  const { before, query: rest, after } = partsOf(uri);
  const added = new URLSearchParams([[name, value]]).toString();
  return withinLimit(`${before}?${rest === "" ? "" : `${rest}&`}${added}${after}`);
}

/** `uri.setQuery(name, value)`: with this parameter instead of all with its name. */
export function setQuery(uri: unknown, name: unknown, value: unknown): string | undefined {
  if (typeof uri !== "string" || typeof name !== "string" || typeof value !== "string") {
    return undefined;
  }
  const { before, query: rest, after } = partsOf(uri);
  const params = new URLSearchParams(rest);
  params.set(name, value);
  return withinLimit(`${before}?${params}${after}`);
}

/** Splits a URI into the part before its `?`, its query, and its fragment with the `#`. */
function partsOf(uri: string): { before: string; query: string; after: string } {
  const hash = uri.indexOf("#");
  const [plain, after] = hash < 0 ? [uri, ""] : [uri.slice(0, hash), uri.slice(hash)];
  const mark = plain.indexOf("?");
  if (mark < 0) return { before: plain, query: "", after };
  return { before: plain.slice(0, mark), query: plain.slice(mark + 1), after };
}
