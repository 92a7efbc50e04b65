import { backendOf, toolSets } from "../../backends/index.ts";
import {
  childOf,
  type Diagnostics,
  type Origin,
  type Place,
} from "../../diagnostics/diagnostic.ts";
import { suggest } from "../../diagnostics/suggestion.ts";
import { accessOf, policiesBefore, policiesMet } from "../../ir/access.ts";
import { mcpTargets } from "../../ir/backend-text.ts";
import type { ListenerNode, Program, RouteNode } from "../../ir/program.ts";
import { servedRoutes } from "../../ir/routes.ts";
import { routeEntry } from "../access/item-access.ts";
import { takesTunnels } from "../access/tunnel-access.ts";
import { bindsFor } from "../explain/request.ts";
import { coversHost } from "../routing/match-request.ts";
import { offeredNames, type PlacedTarget } from "./test-request.ts";
import type { GatewayTest, TestFile } from "./test-schema.ts";

/** Determines the target of a test; `undefined` if it has no target or cannot pass, which is reported. */
export function placeTest(
  test: GatewayTest,
  { servers }: TestFile,
  programs: readonly Program[],
  origin: Origin,
  diagnostics: Diagnostics,
): PlacedTarget | undefined {
  const before = diagnostics.list.length;
  const target =
    test.request === undefined
      ? placeRoute(test, programs, origin, diagnostics)
      : placeUrl(test.request, programs, childOf(origin, "request"), diagnostics);
  checkNames(test, programs, origin, diagnostics);
  if (target?.kind === "route" && test.list !== undefined)
    checkListed(
      test.list,
      test,
      offeredNames(target.route, test.list, servers, test.view),
      origin,
      diagnostics,
    );
  return diagnostics.list.length === before ? target : undefined;
}

function placeUrl(
  request: string,
  programs: readonly Program[],
  at: Place,
  diagnostics: Diagnostics,
): PlacedTarget | undefined {
  const [method = "", text = ""] = request.split(" ");
  if (method === "CONNECT") return placeTunnel(text, programs, at, diagnostics);
  const url = URL.parse(text);
  const found = programs.flatMap((program) =>
    url === null ? [] : bindsFor(program.binds, url).map((bind) => ({ program, bind })),
  );
  // Several Gateways may use the same port.
  const meant = found.find(({ bind }) =>
    bind.listeners.some((each) => coversHost(each.hostname, url?.hostname ?? "")),
  );
  const placed = meant ?? found[0];
  if (url !== null && placed !== undefined) return { kind: "url", method, url, ...placed };
  const ports = programs.flatMap(({ binds }) => binds.map(({ port }) => port)).join(", ");
  diagnostics.report("unreachable-test", at, { url: text, ports });
  return undefined;
}

/** Places a test of a tunnel on the port that `gwc can CONNECT` asks, or on the first one if no port takes tunnels. */
function placeTunnel(
  authority: string,
  programs: readonly Program[],
  at: Place,
  diagnostics: Diagnostics,
): PlacedTarget | undefined {
  const all = programs.flatMap((program) => program.binds.map((bind) => ({ program, bind })));
  const placed = all.find(({ bind }) => takesTunnels(bind)) ?? all[0];
  if (placed !== undefined) return { kind: "tunnel", authority, ...placed };
  diagnostics.report("unreachable-test", at, { url: authority, ports: "" });
  return undefined;
}

/** A route with its program and listener. */
interface FoundRoute {
  readonly program: Program;
  readonly route: RouteNode;
  readonly listener: ListenerNode;
}

function placeRoute(
  test: GatewayTest,
  programs: readonly Program[],
  origin: Origin,
  diagnostics: Diagnostics,
): PlacedTarget | undefined {
  const protocol = test.model === undefined ? "mcp" : "llm";
  const what = test.model === undefined ? "an MCP request" : "a request to a model";
  const all = programs.flatMap((program) =>
    servedRoutes(program).flatMap(({ route, listeners: [listener] }): readonly FoundRoute[] =>
      listener === undefined || !route.backends.some(({ kind }) => speaks(kind, protocol))
        ? []
        : [{ program, route, listener }],
    ),
  );
  const named = all.filter(({ route }) =>
    [route.name, route.id].includes(test.route ?? route.name),
  );
  const [found] = named;
  if (found === undefined && test.route !== undefined) {
    const suggestion = suggest(
      test.route,
      all.map(({ route }) => route.name),
    );
    const kind = protocol === "mcp" ? "route to MCP servers" : "route to models";
    const at = childOf(origin, "route");
    diagnostics.report("unknown-in-test", at, { what: kind, name: test.route, suggestion });
    return undefined;
  }
  const problem = routeProblem(named);
  if (found === undefined || problem !== undefined) {
    const routes = named.map(({ route }) => `"${route.name}"`).join(", ");
    const why = problem ?? "no route has such a backend";
    diagnostics.report("unclear-test-route", origin, {
      what,
      routes: named.length > 1 ? routes : "",
      problem: why,
    });
    return undefined;
  }
  const { program, route, listener } = found;
  if (test.view !== undefined) {
    const views = route.backends.flatMap(toolSets).flatMap(({ view }) => view ?? []);
    if (!views.includes(test.view)) {
      const named = { what: "view", name: test.view, suggestion: suggest(test.view, views) };
      diagnostics.report("unknown-in-test", childOf(origin, "view"), named);
      return undefined;
    }
  }
  const bind = program.binds.find(({ listeners }) => listeners.includes(listener));
  return bind && { kind: "route", program, route, listener, bind };
}

function speaks(kind: Parameters<typeof backendOf>[0], protocol: "mcp" | "llm"): boolean {
  return backendOf(kind).protocol === protocol;
}

function routeProblem(found: readonly FoundRoute[]): string | undefined {
  if (found.length > 1) return "there are several";
  const [only] = found;
  const entry = only && routeEntry(only.route, only.listener);
  return entry?.match.path.kind === "regex" ? "its path is a pattern" : undefined;
}

/** Reports unknown routes and rules in a test. */
function checkNames(
  { expect }: GatewayTest,
  programs: readonly Program[],
  origin: Origin,
  diagnostics: Diagnostics,
): void {
  const routes = programs.flatMap(servedRoutes).map(({ route: each }) => each.name);
  const check = (name: string | undefined, what: string, known: readonly string[], at: Place) => {
    if (name === undefined || known.includes(name)) return;
    diagnostics.report("unknown-in-test", at, { what, name, suggestion: suggest(name, known) });
  };
  check(expect.route, "route", routes, childOf(origin, "expect", "route"));
  check(expect.rule, "rule", ruleTexts(programs), childOf(origin, "expect", "rule"));
}

/** Lists the sources of all rules. */
function ruleTexts(programs: readonly Program[]): readonly string[] {
  return programs.flatMap(servedRoutes).flatMap(({ route, listeners }) =>
    [...listeners.flatMap(policiesBefore), ...policiesMet(undefined, route)]
      .flatMap(accessOf)
      .flatMap((check) => (check.kind === "rules" ? check.rules : []))
      .map(({ expression }) => expression.source),
  );
}

/** Reports expected items that no server offers. */
function checkListed(
  kind: NonNullable<GatewayTest["list"]>,
  { expect }: GatewayTest,
  offered: readonly string[],
  origin: Origin,
  diagnostics: Diagnostics,
): void {
  expect.listed?.forEach((name, index) => {
    if (offered.includes(name)) return;
    const at = childOf(origin, "expect", "listed", index);
    diagnostics.report("unoffered-item", at, { kind, name, suggestion: suggest(name, offered) });
  });
}

/** Reports unknown servers and duplicate test names in a test file. */
export function checkSuite(
  { servers = {}, tests }: TestFile,
  programs: readonly Program[],
  origin: Origin,
  diagnostics: Diagnostics,
): void {
  const known = programs
    .flatMap(servedRoutes)
    .flatMap(({ route }) => route.backends.flatMap(mcpTargets));
  for (const name of Object.keys(servers)) {
    if (known.includes(name)) continue;
    const at = { ...childOf(origin, "servers", name), part: "key" } as const;
    const suggestion = suggest(name, known);
    diagnostics.report("unknown-in-test", at, { what: "MCP server", name, suggestion });
  }
  tests.forEach(({ name }, index) => {
    const first = tests.findIndex((each) => each.name === name);
    if (first === index) return;
    diagnostics.report("same-test-name", childOf(origin, "tests", index, "name"), { name }, [
      { at: childOf(origin, "tests", first, "name"), label: "first here" },
    ]);
  });
}
