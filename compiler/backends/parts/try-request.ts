/** A request that reaches a route, as far as the configuration says what it needs. */
export interface TryRequest {
  /** `http://127.0.0.1:3000` */
  readonly origin: string;
  /** The path that is matched; a prefix also matches what is below it. */
  readonly path: { readonly kind: "exact" | "prefix"; readonly value: string };
  /** `?a=b`, or nothing. */
  readonly search: string;
  readonly method: string | undefined;
  /** `name: value`; a value that only the user has is one of the shell's variables `CREDENTIALS`. */
  readonly headers: readonly string[];
  /** Arguments of curl for names and certificates that are not known here. */
  readonly options: readonly string[];
}

/** What stands for a credential in a command, as the shell reads it. */
export const CREDENTIALS = {
  token: "$TOKEN",
  key: "$API_KEY",
  password: "$(printf %s USER:PASSWORD | base64)",
} as const;

/** The request as a command of curl; `options` are further ones. */
export function curlCommand(request: TryRequest, options: readonly string[] = []): string {
  const { origin, path, search, method } = request;
  const sent = request.headers.flatMap((header) => ["-H", shellWord(header)]);
  const methodOption = method === undefined ? [] : ["-X", method];
  const words = ["curl", "-i", ...request.options, ...methodOption, ...sent, ...options];
  return [...words, shellWord(`${origin}${path.value}${search}`)].join(" ");
}

/** Text as one word of the shell. `CREDENTIALS` stay what they are; whatever the configuration says is only text. */
export function shellWord(text: string): string {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text;
  const inner = Object.values(CREDENTIALS).reduce(
    (parts: readonly string[], variable) =>
      parts.flatMap((part, index) => (index % 2 === 1 ? [part] : interleaved(part, variable))),
    [text],
  );
  return `"${inner.map((part, index) => (index % 2 === 1 ? part : part.replace(/["\\$`]/g, "\\$&"))).join("")}"`;
}

/** The text around each occurrence of a variable, with the variable between: `["a", "$X", "b"]`. */
function interleaved(text: string, variable: string): readonly string[] {
  return text.split(variable).flatMap((part, index) => (index === 0 ? [part] : [variable, part]));
}
