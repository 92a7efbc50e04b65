/** One of the names of a certificate (`subjectAltName`). */
export interface AlternativeName {
  /** `DNS`, `URI`, `IP Address`, ... */
  readonly type: string;
  readonly value: string;
}

/** Parses `DNS:a, URI:b`. Node quotes a value as JSON if it could be taken for more than one. */
export function alternativeNames(text: string): readonly AlternativeName[] {
  return Array.from(text.matchAll(ALTERNATIVE_NAME), ([, type = "", value = ""]) => ({
    type,
    value: value.startsWith('"') ? JSON.parse(value) : value,
  }));
}

const ALTERNATIVE_NAME = /(?:^|, )([A-Za-z0-9 ]+):("(?:[^"\\]|\\.)*"|[^,]*)/g;

/** Returns the URIs among the names of a certificate. */
export function uriNames(text: string): readonly string[] {
  return alternativeNames(text).flatMap(({ type, value }) => (type === "URI" ? [value] : []));
}
