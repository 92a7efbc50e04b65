/** Allocates identifiers that are unique in a program: the names of generated functions and files. */
export class Identifiers {
  readonly #reserved: ReadonlySet<string>;
  readonly #suffix: string;
  readonly #taken = new Set<string>();
  /** Next number for each name. */
  readonly #next = new Map<string, number>();

  /** `reserved` names are never allocated, also not with a number; `suffix` is appended to reserved words. */
  constructor(reserved: Iterable<string> = [], suffix = "Route") {
    this.#reserved = new Set([...RESERVED, ...reserved]);
    this.#suffix = suffix;
  }

  /**
   * Allocates the identifier for the first candidate that is free: `/api/v1` becomes `apiV1`. If all are taken, the
   * first one gets a number.
   */
  take(...candidates: readonly string[]): string {
    const usable = candidates.map(camelCase).filter((name) => name !== "");
    const safe = (usable.length === 0 ? ["route"] : usable).map((name) =>
      this.#reserved.has(name.replace(/\d+$/, "")) ? `${name}${this.#suffix}` : name,
    );
    const free = safe.find((name) => !this.#taken.has(name.toLowerCase()));
    const name = free ?? this.#numbered(safe[0] ?? "route");
    // Two names must not become one file in a case-insensitive file system.
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

/** Converts to camel case: `MCP tools/v1` becomes `mcpToolsV1`. */
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

/** Converts to kebab case: `mcpToolsV1` becomes `mcp-tools-v1`. */
export function kebabCase(identifier: string): string {
  return identifier.replace(/([a-z0-9])([A-Z])/g, "$1-$2").toLowerCase();
}

/** Words that cannot be the name of a function in a strict module, and names that generated modules use themselves. */
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
