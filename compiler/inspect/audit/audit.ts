import { backendOf } from "../../backends/index.ts";
import { type Diagnostic, Diagnostics, keyPlace } from "../../diagnostics/diagnostic.ts";
import { accessOf, policiesMet } from "../../ir/access.ts";
import type { BackendKind, BackendNode } from "../../ir/backends.ts";
import type { BindNode, ListenerNode, Program, RouteNode } from "../../ir/program.ts";
import { servedRoutes } from "../../ir/routes.ts";
import { type Work, workOfCommand } from "../effect/work/work.ts";
import { reportDeadRules } from "./dead-rules.ts";
import { reportModelRules } from "./model-rules.ts";
import { reportUnpinnedImages } from "./unpinned-images.ts";

/** What is open, weak or does nothing in programs that have no mistake. */
export function auditPrograms(programs: readonly Program[]): readonly Diagnostic[] {
  const diagnostics = new Diagnostics();
  const work = workOfCommand();
  for (const program of programs) {
    for (const { route, listeners } of servedRoutes(program))
      for (const listener of listeners) auditRoute(route, listener, diagnostics, work);
    for (const bind of program.binds) auditBind(bind, diagnostics);
    auditProcess(program, diagnostics);
    reportUnpinnedImages(program, diagnostics);
    for (const { what, origin } of program.deployment?.podPowers ?? [])
      diagnostics.report("powerful-pod", keyPlace(origin), { what });
  }
  return diagnostics.list;
}

function auditRoute(
  route: RouteNode,
  listener: ListenerNode,
  diagnostics: Diagnostics,
  work: Work,
): void {
  const policies = policiesMet(listener, route);
  const checks = policies.flatMap(accessOf);
  const at = keyPlace(route.origin);
  const backends = route.backends.map((node) => traitsOf(node));
  const [served] = backends.flatMap(({ protocol }) => (protocol === "http" ? [] : [protocol]));
  const isGuarded = checks.some((check) => check.kind !== "identity" || check.isRequired);
  if (served !== undefined && !isGuarded)
    diagnostics.report("open-backend", at, { route: route.name, what: SERVED[served] });
  const isRuled = checks.some((check) => check.kind === "rules" && check.phase === "mcp");
  if (served === "mcp" && isGuarded && !isRuled)
    diagnostics.report("unruled-tools", at, { route: route.name });
  if (served === "llm" && !checks.some(({ kind }) => kind === "outside"))
    diagnostics.report("unlimited-models", at, { route: route.name });
  if (backends.some(({ passesToken }) => passesToken))
    diagnostics.report("passed-token", at, { route: route.name });
  if (route.backends.some(isUnverified))
    diagnostics.report("unverified-server", at, { route: route.name });
  for (const use of policies)
    for (const check of accessOf(use))
      if (check.kind === "identity" && check.anyAudience !== undefined)
        diagnostics.report("any-audience", keyPlace(use.origin), { issuers: check.anyAudience });
  for (const check of checks)
    if (check.kind === "rules") {
      reportDeadRules(check.rules, check.phase, diagnostics, work);
      reportModelRules(check.rules, diagnostics);
    }
}

const SERVED = { mcp: "the tools of its MCP servers", llm: "its models" } as const;

function traitsOf<Kind extends BackendKind>(node: BackendNode<Kind>) {
  const unit = backendOf(node.kind);
  return { protocol: unit.protocol, passesToken: unit.passesToken?.(node) === true };
}

/** Whether some server behind a backend is reached over TLS that checks no certificate. */
function isUnverified(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const fields = Object.entries(value);
  return fields.some(([name, each]) =>
    name === "verification" ? each === "none" : isUnverified(each),
  );
}

function auditBind({ port, address, tls, listeners, origin }: BindNode, diagnostics: Diagnostics) {
  const all = [tls, ...listeners.map(({ handshake }) => handshake)];
  if (all.some((each) => each?.maxVersion === "TLSv1.2"))
    diagnostics.report("no-tls13", keyPlace(origin), { port });
  if (tls !== undefined || address !== undefined) return;
  const asks = listeners.some((listener) =>
    listener.routes.some((route) =>
      policiesMet(listener, route)
        .flatMap(accessOf)
        .some(({ kind }) => kind === "identity"),
    ),
  );
  if (asks) diagnostics.report("credentials-in-clear", keyPlace(origin), { port });
}

/** In a cluster metrics have to be reached by others; the admin page is on loopback alone wherever it is. */
function auditProcess({ process, deployment, binds: [bind] }: Program, diagnostics: Diagnostics) {
  const { stats } = process.addresses;
  if (deployment !== undefined || bind === undefined || !PUBLIC.test(stats)) return;
  const at = { file: bind.origin.file, document: 0, path: [], part: "file" } as const;
  diagnostics.report("public-metrics", at, { address: stats });
}

/** Every address of the machine. */
const PUBLIC = /^(0\.0\.0\.0|\[::\]|\*)?:/;
