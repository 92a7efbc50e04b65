import path from "node:path";
import { startedServers } from "../../4-emit/image-commands.ts";
import { backendOf, sharedCaches } from "../../backends/index.ts";
import type { CelPhase } from "../../cel/compile.ts";
import { childOf, type Diagnostic, Diagnostics, keyPlace } from "../../diagnostics/diagnostic.ts";
import { accessOf, policiesMet } from "../../ir/access.ts";
import type { BackendKind, BackendNode } from "../../ir/backends.ts";
import type { NamedImage } from "../../ir/deployment.ts";
import type { BindNode, ListenerNode, Program, RouteNode } from "../../ir/program.ts";
import { servedRoutes } from "../../ir/routes.ts";
import { isLoopback } from "../../model/loopback.ts";
import type { Rule } from "../../model/rules.ts";
import type { Text } from "../../model/texts.ts";
import { boundArguments } from "../../model/tool-sets.ts";
import { type ViewToolAccess, viewAccess } from "../access/item-access.ts";
import { RuleModel } from "../effect/model/rule-model.ts";
import { type Work, withinSteps, workOfCommand } from "../effect/work/work.ts";

/** Reports what is open, weak or without effect in valid programs. */
export function auditPrograms(programs: readonly Program[]): readonly Diagnostic[] {
  const diagnostics = new Diagnostics();
  const work = workOfCommand();
  for (const program of programs) {
    for (const { route, listeners } of servedRoutes(program))
      for (const listener of listeners) auditRoute(route, listener, diagnostics, work);
    for (const bind of program.binds) auditBind(bind, diagnostics);
    auditProcess(program, diagnostics);
    const { capturedBodies } = program;
    if (capturedBodies !== undefined)
      diagnostics.report("logged-content", keyPlace(capturedBodies.origin), {});
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
  const isGuarded = checks.some((check) =>
    check.kind === "outside"
      ? check.refusesNobody !== true
      : check.kind !== "identity" || check.isRequired,
  );
  if (served !== undefined && !isGuarded)
    diagnostics.report("open-backend", at, { route: route.name, what: SERVED[served] });
  const isRuled = checks.some((check) => check.kind === "rules" && check.phase === "mcp");
  if (served === "mcp" && isGuarded && !isRuled)
    diagnostics.report("unruled-tools", at, { route: route.name });
  if (
    served === "llm" &&
    !checks.some((check) => check.kind === "outside" && check.refusesNobody !== true)
  )
    diagnostics.report("unlimited-models", at, { route: route.name });
  if (backends.some(({ passesToken }) => passesToken))
    diagnostics.report("passed-token", at, { route: route.name });
  for (const { origin, ...scope } of route.backends.flatMap(sharedCaches))
    diagnostics.report("shared-cache", keyPlace(origin), { route: route.name, ...scope });
  if (route.backends.some(isUnverified))
    diagnostics.report("unverified-server", at, { route: route.name });
  for (const use of policies)
    for (const check of accessOf(use)) {
      if (check.kind === "outside" && check.passesOnFailure === true)
        diagnostics.report("passes-on-failure", keyPlace(use.origin), { what: check.what });
      if (check.kind === "identity" && check.anyAudience !== undefined)
        diagnostics.report("any-audience", keyPlace(use.origin), { issuers: check.anyAudience });
    }
  reportDeniedTools(viewAccess(route, listener, work), diagnostics);
  for (const check of checks)
    if (check.kind === "rules") {
      reportDeadRules(check.rules, check.phase, diagnostics, work);
      reportModelRules(check.rules, diagnostics);
    }
}

/** Reports tools of views that rules refuse to everybody. */
function reportDeniedTools(access: readonly ViewToolAccess[], diagnostics: Diagnostics): void {
  for (const { set, tool, verdicts } of access) {
    const { view } = set;
    if (view === undefined || !verdicts.some(({ verdict }) => verdict === "refuses")) continue;
    const isFixed = boundArguments(tool).length > 0;
    const named = { name: tool.name, view, tool: tool.tool, isFixed };
    diagnostics.report("denied-view-tool", keyPlace(tool.origin), named);
  }
}

const SERVED = { mcp: "the tools of its MCP servers", llm: "its models" } as const;

function traitsOf<Kind extends BackendKind>(node: BackendNode<Kind>) {
  const unit = backendOf(node.kind);
  return { protocol: unit.protocol, passesToken: unit.passesToken?.(node) === true };
}

/** Whether a backend connects to a server without verifying its certificate. */
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
        .some(
          (check) => check.kind === "identity" || (check.kind === "outside" && check.isIdentity),
        ),
    ),
  );
  if (asks) diagnostics.report("credentials-in-clear", keyPlace(origin), { port });
}

/** Reports services that accept keys without TLS, and public metrics, except in a cluster, where they must be reachable. */
function auditProcess(
  { process, deployment, binds: [bind], keysApi }: Program,
  diagnostics: Diagnostics,
) {
  if (keysApi !== undefined && !isLoopback(keysApi.address))
    diagnostics.report("credentials-in-clear", keyPlace(keysApi.origin), { port: keysApi.port });
  const [, adminHost = "", adminPort] = /^(.*):(\d+)$/.exec(process.adminAddress) ?? [];
  if (process.admin !== undefined && adminPort !== undefined && !isLoopback(adminHost))
    diagnostics.report("credentials-in-clear", keyPlace(process.admin.origin), {
      port: Number(adminPort),
    });
  const { stats } = process.addresses;
  if (deployment !== undefined || bind === undefined || !PUBLIC.test(stats)) return;
  const at = { file: bind.origin.file, document: 0, path: [], part: "file" } as const;
  diagnostics.report("public-metrics", at, { address: stats });
}

/** Matches an address that covers all interfaces. */
const PUBLIC = /^(0\.0\.0\.0|\[::\]|\*)?:/;

/** Reports rules that never decide; nothing if the remaining steps do not suffice to prove it. */
function reportDeadRules(
  rules: readonly Rule[],
  phase: CelPhase,
  diagnostics: Diagnostics,
  work: Work,
): void {
  const deciding = decidingRules(rules, phase, work);
  if (deciding === undefined) return;
  for (const [index, rule] of rules.entries()) {
    if (deciding.has(index)) continue;
    const isEverTrue = decidingRules([rule], phase, work)?.has(0) !== false;
    const why = isEverTrue
      ? "other rules decide every request that it matches"
      : "no request can match it";
    diagnostics.report("dead-rule", rule.origin, { rule: rule.expression.source, why });
  }
}

/** Returns the indexes of the rules that decide at least one request; `undefined` if the set may be incomplete. */
function decidingRules(
  rules: readonly Rule[],
  phase: CelPhase,
  work: Work,
): ReadonlySet<number> | undefined {
  return withinSteps(() => {
    const model = new RuleModel(phase, rules, [], [], work.question());
    if (!model.isComplete) return undefined;
    const texts = model.diagrams.textsIn(model.decision(rules));
    return new Set([...texts].flatMap((text) => ruleIn(text) ?? []));
  });
}

/** Parses the rule index of a decision's terminal: `+ 2`. */
function ruleIn(text: string): number | undefined {
  const [, rule] = text.split(" ");
  return rule === undefined ? undefined : Number(rule);
}

/** Reports rules that read the model from the request body: servers may take it from other members or the path. */
function reportModelRules(rules: readonly Rule[], diagnostics: Diagnostics): void {
  for (const { expression, origin } of rules) {
    if (!BODY_MODEL.test(expression.source)) continue;
    diagnostics.report("body-model-rule", origin, { rule: expression.source });
  }
}

/** Matches `json(request.body).model`, also by index, through other functions, or of a bound name. */
const BODY_MODEL = /json\s*\([^)]*request\.body[\s\S]*(?:\.\??\s*|\[\??\s*["'])models?\b/i;

/** Reports images without a digest: the image of a tag may change with every pull. */
function reportUnpinnedImages(program: Program, diagnostics: Diagnostics): void {
  const named = [...(program.deployment?.namedImages ?? []), ...startedImages(program)];
  for (const { image, origin } of named)
    if (!PINNED.test(image)) diagnostics.report("unpinned-image", origin, { image });
}

/** Matches a digest with a registered algorithm (OCI image specification, descriptor). */
const PINNED = /@(?:sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128})$/;

/** Lists the images of MCP servers that the gateway starts with a container runtime. */
function startedImages(program: Program): readonly NamedImage[] {
  return startedServers(program).flatMap(({ command, args, origin }) => {
    const at = startedImageAt(command, args);
    const image = at === undefined ? undefined : args[at];
    if (at === undefined || typeof image !== "string") return [];
    return [{ image, origin: childOf(origin, "args", at) }];
  });
}

/** Container runtimes with Docker's command line. */
const RUNTIMES: ReadonlySet<string> = new Set(["docker", "podman", "nerdctl", "finch"]);

/** Global options without a value. */
const GLOBAL_FLAGS: ReadonlySet<string> = new Set(["debug", "remote", "tls", "tlsverify"]);
const GLOBAL_LETTERS = "Dr";

/** Options of `run` without a value; all others take one. */
const RUN_FLAGS: ReadonlySet<string> = new Set([
  ...["detach", "disable-content-trust", "env-host", "help", "init", "interactive"],
  ...["no-healthcheck", "no-hostname", "no-hosts", "oom-kill-disable", "privileged", "publish-all"],
  ...[
    "quiet",
    "read-only",
    "read-only-tmpfs",
    "replace",
    "rm",
    "rmi",
    "tls-verify",
    "tty",
    "unsetenv-all",
  ],
  ...["sig-proxy", "use-api-socket"],
]);
const RUN_LETTERS = "diqtP";

/** Returns the index of the argument with the image: 4 for `docker run -i --rm -e A IMAGE x`, counted after `docker`. */
function startedImageAt(command: string, args: readonly Text[]): number | undefined {
  if (!RUNTIMES.has(path.posix.basename(command))) return undefined;
  let at = firstWord(args, 0, GLOBAL_FLAGS, GLOBAL_LETTERS);
  if (args[at] === "container") at++;
  if (args[at] !== "run") return undefined;
  const image = firstWord(args, at + 1, RUN_FLAGS, RUN_LETTERS);
  return image < args.length ? image : undefined;
}

/** Returns the index of the first argument from `start` that is neither an option nor an option's value. */
function firstWord(
  args: readonly Text[],
  start: number,
  flags: ReadonlySet<string>,
  letters: string,
): number {
  let index = start;
  for (; index < args.length; index++) {
    const arg = args[index];
    // A string with environment variables is taken for a word, as options have none.
    if (typeof arg !== "string" || !arg.startsWith("-") || arg === "-") return index;
    if (arg === "--") return index + 1;
    if (takesNext(arg, flags, letters)) index++;
  }
  return index;
}

/** Whether the value of an option is the next argument: `--env A`, `-e A`, `-ie A`; not `--env=A`, `-eA`, `-it`. */
function takesNext(option: string, flags: ReadonlySet<string>, letters: string): boolean {
  if (option.startsWith("--")) return !option.includes("=") && !flags.has(option.slice(2));
  const firstWithValue = [...option.slice(1)].findIndex((letter) => !letters.includes(letter));
  return firstWithValue === option.length - 2;
}
