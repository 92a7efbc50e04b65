import type { ChainSummary, GatewaySummary } from "../../4-emit/manifest/manifest-schema.ts";
import { NO_BACKEND } from "../../ir/backend-text.ts";

/** Change of a part of a graph against another graph. */
export type GraphChange = "added" | "removed" | "changed" | "same";

/** A box of a graph. */
export interface GraphNode {
  readonly id: string;
  /** 0: listeners, 1: routes with their policies, 2: servers. */
  readonly column: 0 | 1 | 2;
  /** Lines of text, of which the first is the name. */
  readonly lines: readonly string[];
  readonly change: GraphChange;
}

/** An arrow from one box to another. */
export interface GraphEdge {
  readonly from: string;
  readonly to: string;
  readonly change: GraphChange;
}

/** A graph of a gateway. */
export interface GatewayGraph {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}

/** Creates the graph of a gateway; with `before`, additions, removals and changes are marked. */
export function gatewayGraph(after: GatewaySummary, before?: GatewaySummary): GatewayGraph {
  const now = partsOf(after);
  const old = before === undefined ? now : partsOf(before);
  const names = [...new Set([...now.nodes.keys(), ...old.nodes.keys()])];
  const nodes = names.flatMap((id): readonly GraphNode[] => {
    const [here, there] = [now.nodes.get(id), old.nodes.get(id)];
    const shown = here ?? there;
    if (shown === undefined) return [];
    const { column, lines } = shown;
    return [{ id, column, lines, change: changeOf(here?.key, there?.key) }];
  });
  const edges = [...new Set([...now.edges, ...old.edges])].map((key) => {
    const [from = "", to = ""] = key.split("\n");
    const sides = [now, old].map(({ edges: all }) => (all.has(key) ? key : undefined));
    return { from, to, change: changeOf(sides[0], sides[1]) };
  });
  return { nodes, edges };
}

function changeOf(here: string | undefined, there: string | undefined): GraphChange {
  if (here === there) return "same";
  if (there === undefined) return "added";
  return here === undefined ? "removed" : "changed";
}

interface Parts {
  readonly nodes: ReadonlyMap<
    string,
    Pick<GraphNode, "column" | "lines"> & { readonly key: string }
  >;
  readonly edges: ReadonlySet<string>;
}

function partsOf({ listeners, routes, connections }: GatewaySummary): Parts {
  const nodes = new Map<string, Pick<GraphNode, "column" | "lines"> & { readonly key: string }>();
  const edges = new Set<string>();
  const add = (id: string, column: GraphNode["column"], lines: readonly string[], all: unknown) =>
    nodes.set(id, { column, lines, key: JSON.stringify(all) });
  for (const listener of listeners) {
    const name = `${listener.hostname}:${listener.port}`;
    add(`listener ${name}`, 0, [name, listener.protocol, ...policyLine(listener)], listener);
  }
  const lead = (route: string, backends: string) => {
    if (backends === NO_BACKEND) return;
    for (const server of backends.split(", ")) {
      add(`server ${server}`, 2, [server], server);
      edges.add(`${route}\nserver ${server}`);
    }
  };
  for (const { hostname, port, routes: own, settings } of connections) {
    const listener = `listener ${hostname}:${port}`;
    add(listener, 0, [`${hostname}:${port}`, "connections"], settings);
    for (const route of own) {
      const { name, hostnames, policies, parts, backends } = route;
      const id = `connections ${name}`;
      const hosts = hostnames.filter((host) => host !== hostname).map((host) => `host ${host}`);
      add(id, 1, [name, ...hosts, ...kindLine(policies, parts)], route);
      edges.add(`${listener}\n${id}`);
      lead(id, backends);
    }
  }
  for (const route of routes) {
    const own = `route ${route.name}`;
    add(own, 1, [route.name, ...route.matches, ...policyLine(route), ...ruleLine(route)], route);
    for (const listener of route.listeners) edges.add(`listener ${listener}\n${own}`);
    lead(own, route.backends);
  }
  return { nodes, edges };
}

function policyLine({
  policies,
  parts,
}: GatewaySummary["routes"][number] | GatewaySummary["listeners"][number]) {
  return kindLine(Object.keys(policies), parts);
}

function kindLine(kinds: readonly string[], parts: ChainSummary["parts"] = {}): readonly string[] {
  const named = kinds.map((kind) => {
    const names = Object.keys(parts[kind] ?? {});
    return names.length === 0 ? kind : `${kind}: ${names.join(", ")}`;
  });
  return named.length === 0 ? [] : [named.join(" · ")];
}

function ruleLine({ rules }: GatewaySummary["routes"][number]): readonly string[] {
  if (rules.length === 0) return [];
  return [rules.length === 1 ? "1 rule" : `${rules.length} rules`];
}
