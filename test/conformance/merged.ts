import { expect } from "vitest";
import type { RouteConfig } from "../mcp/gateway-config.ts";
import { asOneOfTwo } from "./one-of-two.ts";
import { type Revision, verdicts } from "./verdicts.ts";

/** The ports of a server with sessions and of one that has none. */
interface Servers {
  readonly sessions: string | undefined;
  readonly stateless: string | undefined;
}

/** Routes to both servers, named after the one that clients see; the other one is of the other era. */
export function mergedRoutes(servers: Servers): readonly RouteConfig[] {
  const target = (name: string, port: string | undefined) => ({
    name,
    mcp: { host: `http://127.0.0.1:${port}/mcp` },
  });
  const { sessions, stateless } = servers;
  return [
    {
      name: "merged-sessions",
      path: "/merged-sessions",
      targets: [target("one", sessions), target("two", stateless)],
    },
    {
      name: "merged-stateless",
      path: "/merged-stateless",
      targets: [target("one", stateless), target("two", sessions)],
    },
  ];
}

/** Expects that what the suite finds at one of two merged servers is what it finds directly, but for these scenarios. */
export async function expectAsDirectly(
  { port, path }: { readonly port: number; readonly path: string },
  revision: Revision,
  direct: ReadonlyMap<string, string>,
  exceptions: Readonly<Record<string, string>>,
): Promise<void> {
  const through = await verdicts(await asOneOfTwo(port, path), revision);
  const other = [...direct].filter(([name, counts]) => through.get(name) !== counts);
  const seen = other.map(([name, counts]) => `${name}: ${counts}; through: ${through.get(name)}`);
  const names = other.map(([name]) => name).sort();
  expect(names, seen.join("\n")).toEqual(Object.keys(exceptions).sort());
  expect(through.size).toBeGreaterThanOrEqual(30);
}
