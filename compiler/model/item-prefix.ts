/** Returns what precedes the name of a tool, a prompt or a resource if a route has several servers: `docs_`, `docs+`. */
export function itemPrefix(server: string, kind: "tool" | "prompt" | "resource"): string {
  return `${server}${kind === "resource" ? "+" : "_"}`;
}
