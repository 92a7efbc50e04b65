/** Hands out identifiers that are unique in a program: the names of generated functions and files. */
export class Identifiers {
  readonly #reserved: ReadonlySet<string>;
  readonly #suffix: string;
  readonly #taken = new Set<string>();
  /** The number that the next one of a name gets. */
  readonly #next = new Map<string, number>();

  /** `reserved`: names that are never handed out, whatever number follows them; `suffix`: what makes one of each. */
  constructor(reserved: Iterable<string> = [], suffix = "Route") {
    this.#reserved = new Set([...RESERVED, ...reserved]);
    this.#suffix = suffix;
  }

  /**
   * The identifier nearest to the first usable candidate that is free: `/api/v1` becomes `apiV1`; when all are taken,
   * the first one gets a number.
   */
  take(...candidates: readonly string[]): string {
    const usable = candidates.map(camelCase).filter((name) => name !== "");
    const safe = (usable.length === 0 ? ["route"] : usable).map((name) =>
      this.#reserved.has(name.replace(/\d+$/, "")) ? `${name}${this.#suffix}` : name,
    );
    const free = safe.find((name) => !this.#taken.has(name.toLowerCase()));
    const name = free ?? this.#numbered(safe[0] ?? "route");
    // File systems that fold case must not make one file of two names.
    this.#taken.add(name.toLowerCase());
    return name;
  }

  #numbered(base: string): string {
    let count = this.#next.get(base) ?? 2;
    while (this.#taken.has(`${base}${count}`.toLowerCase())) count++;
    this.#next.set(base, count + 1);
    return `${base}${count}`;
  }
}

/** `MCP tools/v1` as `mcpToolsV1`. */
export function camelCase(text: string): string {
  const words = text
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== "");
  const joined = words
    .map((word, index) => {
      const lower = word.toLowerCase();
      return index === 0 ? lower : lower.charAt(0).toUpperCase() + lower.slice(1);
    })
    .join("");
  return /^[0-9]/.test(joined) ? `on${joined}` : joined.slice(0, 40);
}

/** `mcpToolsV1` as `mcp-tools-v1`. */
export function kebabCase(identifier: string): string {
  return identifier.replace(/([a-z0-9])([A-Z])/g, "$1-$2").toLowerCase();
}

/** Words that can't be a function's name in a strict module, and names that every generated module may use itself. */
const RESERVED = new Set(
  (
    "arguments await async break case catch class const continue debugger default delete do else enum eval export " +
    "extends false finally for function gateway if implements import in instanceof interface let new null package " +
    "private protected public return static super switch this throw true try typeof undefined var void while with " +
    "yield exchange mcp request env file path hostname target response dispatch notFound startGateway " +
    "isUnder holds matchedHeader matchedParameter misdirected compilePattern matchesWhole matchesPart file secretFile routeTable onHost " +
    "exactPath pathPrefix pathPattern toRoute lookUp hostTable valueForHost isLogged logFields"
  ).split(" "),
);
