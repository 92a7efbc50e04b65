import type { BackendKind, BackendNode } from "../../compiler/ir/backends.ts";
import type { PolicyUse } from "../../compiler/ir/policies.ts";
import type { RouteNode } from "../../compiler/ir/program.ts";
import type { ServedHost } from "../../compiler/ir/routes.ts";
import type { BackendCode } from "../backends/backend.ts";
import { backendTemplateOf } from "../backends/index.ts";
import { credentialReads } from "../backends/parts/credential-reads.ts";
import { backendsCode, servedKinds } from "../backends/shares.ts";
import { bufferStep } from "../code/buffer-step.ts";
import { code, comment, join } from "../code/code.ts";
import { constantsOf, Expressions } from "../code/expression.ts";
import type { Code, Expression, Hole } from "../code/hole.ts";
import { imported, importedType, name } from "../code/names.ts";
import { type PrintedModule, printModule } from "../code/print.ts";
import type { Trace } from "../code/trace.ts";
import { RouteVariables } from "../code/variables.ts";
import {
  allowedOrigins,
  asksBeforeCalls,
  type ChainScope,
  establishAttributes,
  isAsyncChain,
  keepIdentity,
  policiesText,
  policyParts,
  policyReads,
  policySteps,
} from "../policies/parts/chain.ts";
import { ownMessages, ownReads, stepsBeforeBackend } from "../policies/parts/own-messages.ts";
import { TRACING_PATH } from "./tracing.ts";

/** Context of a route's module. */
export interface RouteModuleContext {
  /** Path of the module below the output folder. */
  readonly path: string;
  /** The input files, for the header. */
  readonly inputs: string;
  readonly trace: Trace;
  /** Policies of its listeners, which run before a route is chosen. */
  readonly preRouting: readonly PolicyUse[];
  /** Hosts and matches under which it is served. */
  readonly hosts: readonly ServedHost[];
  /** Maximum size of a buffered body, in bytes. */
  readonly maxBufferSize: number;
  /** Whether several threads serve the gateway. */
  readonly hasThreads: boolean;
  /** Whether requests are traced. */
  readonly isTraced: boolean;
  /** Whether messages of calls to models are exported. */
  readonly capturesMessages: boolean;
  /** Variables that expressions of the access log read. */
  readonly logged: ReadonlySet<string>;
}

/** Writes the module of a route: its settings, its rules, and the chain from the request to the backend. */
export function routeModule(route: RouteNode, context: RouteModuleContext): PrintedModule {
  const { trace, maxBufferSize, hasThreads, preRouting, hosts } = context;
  const [first, ...others] = route.backends;
  const kinds = servedKinds(route.backends);
  const expressions = new Expressions();
  const variables = new RouteVariables();
  for (const use of preRouting) establishAttributes(use, variables);
  const scope: ChainScope = {
    id: route.id,
    phase: "PostRouting",
    trace,
    expressions,
    variables,
    maxBufferSize,
    hasThreads,
    keepsLimits: kinds.some(keepsLimits),
    toolCallers: [...new Set(route.backends.flatMap((node) => toolCaller(node) ?? []))],
    forwards: kinds.length === 0 || !kinds.every(keepsLimits),
  };
  const read = new Set([
    ...context.logged,
    ...route.backends.flatMap(backendReads),
    ...route.backends.flatMap(credentialReads),
    ...policyReads(route.policies),
    ...ownReads(route),
  ]);
  const parts = policyParts(route.policies, scope).map((part) =>
    part.identity !== undefined && read.has(part.identity) ? keepIdentity(part, variables) : part,
  );
  const policies = parts.map((part) => part.code);
  const messages = ownMessages(route, scope);
  const before = stepsBeforeBackend(route, scope);
  const waits = [...messages.values(), ...before].some(({ readsRequestBody }) => readsRequestBody);
  const backend =
    first === undefined
      ? withoutBackend(route)
      : backendsCode([first, ...others], {
          ...{ route, trace, hosts, maxBufferSize, variables, expressions },
          messagesOf: (node) => messages.get(node)?.settings ?? {},
          admissionOf: (node) => messages.get(node)?.admission ?? [],
          limits: policies.find((policy) => policy.limits !== undefined)?.limits ?? {},
          tries: policies.find((policy) => policy.tries !== undefined)?.tries,
          allowedOrigins: allowedOrigins([...preRouting, ...route.policies]),
          forward: policies.findLast((policy) => policy.forward !== undefined)?.forward,
          chooseServer: policies.find((policy) => policy.chooseServer !== undefined)?.chooseServer,
          mcpRule: policies.find((policy) => policy.mcpRule !== undefined)?.mcpRule,
          mcpStepUp: policies.find((policy) => policy.mcpStepUp !== undefined)?.mcpStepUp,
          mcpArguments: policies.find((policy) => policy.mcpArguments !== undefined)?.mcpArguments,
          mcpMethods: policies.flatMap((policy) => policy.mcpMethods ?? []),
          capturesMessages: context.capturesMessages,
          tracing: context.isTraced ? imported(`.${TRACING_PATH}`, "tracing") : undefined,
        });
  const spends = kinds.some((kind) => backendTemplateOf(kind).spendsTokens === true);
  const isAsked = spends && preRouting.some(asksBeforeCalls);
  const isAsync = waits || isAsked || before.length > 0 || backend.isAsync || isAsyncChain(parts);
  const exchange = importedType("gwc/runtime/http/exchange", "Exchange");
  const declarations = [
    ...policies.flatMap((policy) => policy.declarations),
    ...[...messages.values(), ...before].flatMap((each) => each.declarations),
    ...backend.declarations,
  ];
  const steps = policySteps(parts, scope);
  const chain: readonly Hole[] = [
    ...policies.flatMap((policy) => policy.first ?? []),
    ...backend.first,
    ...steps.flatMap(({ isBeforeGuard, statements }) => (isBeforeGuard ? statements : [])),
    ...backend.guard,
    ...steps.flatMap(({ isBeforeGuard, statements }) => (isBeforeGuard ? [] : statements)),
    ...(waits ? [bufferStep(maxBufferSize)] : []),
    ...before.flatMap(({ steps }) => steps),
    ...(isAsked ? [ADMIT_CALL] : []),
    ...backend.step,
  ];
  const body: Hole[] = [
    ...constantsOf(expressions),
    ...declarations,
    code`
      ${trace(route.origin)}
      export ${isAsync ? code`async ` : code``}function ${name(route.id)}(exchange: ${exchange}): ${resultType(isAsync, backend)} {
        ${chain}
      }
    `,
  ];
  return printModule({
    path: context.path,
    header: [
      comment(`Generated by gwc from ${context.inputs}. Edit the config, not this file.`),
      comment(`Route ${route.name}: ${chainText(route)}.`),
    ],
    body: join(body, "\n\n"),
    declared: [route.id],
  });
}

/** Returns the handler of a route as an expression; `undefined` if the route needs a module. */
export function routeHandler({ policies, backends }: RouteNode): Expression | undefined {
  const [only, ...others] = backends;
  if (only === undefined || others.length > 0 || policies.length > 0) return undefined;
  return only.ownPolicies === undefined ? backendHandler(only) : undefined;
}

function backendHandler<Kind extends BackendKind>(node: BackendNode<Kind>): Expression | undefined {
  return backendTemplateOf<Kind>(node.kind).handler?.(node);
}

/** Step that runs checks of listeners for model calls. */
const ADMIT_CALL = code`if (!(await ${imported("gwc/runtime/http/exchange", "admitCall")}(exchange))) return;`;

function resultType(isAsync: boolean, { mayWait }: BackendCode): Code {
  if (isAsync) return code`Promise<void>`;
  return mayWait === true
    ? code`${importedType("gwc/runtime/http/exchange", "Handled")}`
    : code`void`;
}

/** Returns the last step of a route without a backend: a policy responds, or the request is refused. */
function withoutBackend({ refusal }: RouteNode): BackendCode {
  const refuse = refusal && imported("gwc/runtime/http/refuse", refusal);
  const step = refuse === undefined ? [] : [code`return ${refuse}(exchange);`];
  return { declarations: [], first: [], guard: [], step, isAsync: false };
}

function backendReads<Kind extends BackendKind>(node: BackendNode<Kind>): readonly string[] {
  return backendTemplateOf<Kind>(node.kind).reads?.(node) ?? [];
}

function toolCaller<Kind extends BackendKind>(node: BackendNode<Kind>): string | undefined {
  return backendTemplateOf<Kind>(node.kind).toolCaller?.(node);
}

function keepsLimits(kind: BackendKind): boolean {
  return backendTemplateOf(kind).keepsLimits === true;
}

/** Refusals as headers of modules name them. */
const REFUSALS = { notFound: "404", noBackend: "500" } as const;

/** Returns the summary for the header: `cors, jwtAuth (strict), then mcp`. */
function chainText({ policies, backends, refusal }: RouteNode): string {
  const kinds = servedKinds(backends).join(" or ");
  const last = kinds === "" ? refusal && REFUSALS[refusal] : kinds;
  if (last === undefined) return policiesText(policies);
  return policies.length === 0 ? last : `${policiesText(policies)}, then ${last}`;
}
