/** An example request to a route, as far as the configuration determines it. */
export interface TryRequest {
  /** Scheme, host and port: `http://127.0.0.1:3000`. */
  readonly origin: string;
  /** Path that is matched; a prefix also matches paths below it. */
  readonly path: { readonly kind: "exact" | "prefix"; readonly value: string };
  /** Query string `?a=b`, or "". */
  readonly search: string;
  readonly method: string | undefined;
  /** Headers as `name: value`; unknown credentials are shell variables of `CREDENTIALS`. */
  readonly headers: readonly string[];
  /** A host that an allow rule of the route names, for servers that clients choose; absent if none is named. */
  readonly namedHost?: string;
  /** Additional curl arguments for host names and certificates. */
  readonly options: readonly string[];
}

/** Placeholders of credentials in a command, as shell expressions. */
export const CREDENTIALS = {
  token: "$TOKEN",
  key: "$API_KEY",
  password: "$(printf %s USER:PASSWORD | base64)",
} as const;

/** Returns the request as a curl command, with additional `options`. */
export function curlCommand(request: TryRequest, options: readonly string[] = []): string {
  const { origin, path, search, method } = request;
  const sent = request.headers.flatMap((header) => ["-H", shellWord(header)]);
  const methodOption = method === undefined ? [] : ["-X", method];
  const words = ["curl", "-i", ...request.options, ...methodOption, ...sent, ...options];
  return [...words, shellWord(`${origin}${path.value}${search}`)].join(" ");
}

/**
 * Quotes a string as one word of a shell. Only `CREDENTIALS` are expanded; strings of the configuration never are.
 */
export function shellWord(text: string): string {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text;
  const inner = Object.values(CREDENTIALS).reduce(
    (parts: readonly string[], variable) =>
      parts.flatMap((part, index) => (index % 2 === 1 ? [part] : interleaved(part, variable))),
    [text],
  );
  return `"${inner.map((part, index) => (index % 2 === 1 ? part : part.replace(/["\\$`]/g, "\\$&"))).join("")}"`;
}

/** Splits a string at a variable and keeps the variable: `["a", "$X", "b"]`. */
function interleaved(text: string, variable: string): readonly string[] {
  return text.split(variable).flatMap((part, index) => (index === 0 ? [part] : [variable, part]));
}
