import { resolveGrpcTarget, resolveTarget } from "../backends/parts/callout-server.ts";
import {
  checkResult,
  type ExpectedResult,
  type ExpressionConfig,
} from "../backends/parts/expressions.ts";
import { checkHeaderName } from "../backends/parts/header-fields.ts";
import { reportEarlyIdentity, resolveOfRequest } from "../backends/parts/known-identities.ts";
import { resolveExpressions, resolveOmissible } from "../backends/parts/named-expressions.ts";
import { timeSpanResult } from "../backends/parts/time-span.ts";
import { childOf, keyPlace, type Origin } from "../diagnostics/diagnostic.ts";
import type { CompiledExpression, NamedExpression } from "../model/expressions.ts";
import type { Infer } from "../schema/schema.ts";
import type {
  AuthorizationConfig,
  AuthorizationNode,
  GrpcProtocolConfig,
  HttpProtocolConfig,
  VerdictCacheConfig,
  VerdictCacheNode,
} from "./ext-authz/ext-authz-config.ts";
import { extAuthzSchema, lowerAuthorization } from "./ext-authz/file-form.ts";
import { externalAuthSchema, lowerExternalAuth } from "./ext-authz/filter-form.ts";
import { resolveHeaderNames } from "./ext-authz/header-names.ts";
import { extAuthSchema, lowerExtAuth } from "./ext-authz/manifest-form.ts";
import { calloutComparison } from "./parts/callout-comparison.ts";
import type { CaseConfig } from "./parts/case-config.ts";
import { type CaseNode, joinCases, lowerCases, resolveCases } from "./parts/conditions.ts";
import type { Policy, ResolveContext } from "./policy.ts";

/** `extAuthz` as configured. */
interface ExtAuthzConfig {
  readonly cases: readonly CaseConfig<AuthorizationConfig>[];
}

/** `extAuthz` resolved. */
interface ExtAuthzNode {
  readonly cases: readonly CaseNode<AuthorizationNode>[];
}

/** Asks an authorization server about each request. */
export const extAuthz: Policy<
  "extAuthz",
  ExtAuthzConfig,
  ExtAuthzNode,
  Infer<typeof extAuthzSchema>,
  Infer<typeof extAuthSchema> | Infer<typeof externalAuthSchema>
> = {
  kind: "extAuthz",
  summary:
    "asks an authorization server about each request, by gRPC (Envoy's protocol) or HTTP; later expressions read its metadata as `extauthz`",
  scope: ["listener", "route"],
  traits: {
    actsOn: ["requests"],
    variable: "extauthz",
    changesRequest: () => "anything",
  },
  schema: extAuthzSchema,
  aliases: [["extAuth"]],
  onBackend: { schema: extAuthzSchema, field: "extAuth", actsOn: ["requests"] },
  names: [
    "extAuthz",
    "extAuthzMetadata",
    "extAuthzPath",
    "extAuthzHeaders",
    "extAuthzRedirect",
    "extAuthzKey",
    "extAuthzBody",
    "extAuthzLifetime",
    ...["", "Metadata", "Path", "Headers", "Redirect", "Key", "Body", "Lifetime"].map(
      (part) => `extAuthz${part}ForBackend`,
    ),
    "question",
    "questionForBackend",
  ],
  access: {
    restrictsAccess: true,
    direction: "closes",
    checks: () => [{ kind: "outside", what: "an authorization server decides", decidesWho: true }],
    compare: calloutComparison("failure", ({ failure }) => failure === "allow"),
  },
  lowering: {
    merge: "replace",
    lower: (value, origin) => ({
      cases: lowerCases(value, origin, (each, at) => lowerAuthorization(each, at)),
    }),
    resolve: ({ cases }, context) => {
      if (context.isOfShare === true)
        context.diagnostics.report("not-of-share", keyPlace(context.origin), {});
      const resolved = resolveCases(cases, context, (each) => resolveAuthorization(each, context));
      return resolved && { cases: resolved };
    },
  },
  kubernetes: {
    field: "traffic.extAuth",
    schema: extAuthSchema,
    filter: "externalAuth",
    filterSchema: externalAuthSchema,
    lower: (value, context) => {
      const found =
        "protocol" in value ? lowerExternalAuth(value, context) : lowerExtAuth(value, context);
      const { origin } = context;
      return found && { cases: [{ condition: undefined, value: found, origin }] };
    },
    ofConditions: joinCases,
  },
};

function resolveAuthorization(
  { server, protocol, requestHeaders, cache, ...rest }: AuthorizationConfig,
  context: ResolveContext,
): AuthorizationNode | undefined {
  const target =
    protocol.kind === "grpc"
      ? resolveGrpcTarget(server, context, "`http: {}` as the protocol")
      : resolveTarget(server, context);
  const how =
    protocol.kind === "grpc" ? resolveGrpc(protocol, context) : resolveHttp(protocol, context);
  const cached = cache && resolveCache(cache, rest.body !== undefined, context);
  if (target === undefined || how === undefined) return undefined;
  if (cache !== undefined && cached === undefined) return undefined;
  reportIdleBody(protocol, rest, context);
  if (protocol.kind === "http" && rest.body?.asBytes === true) {
    const at = childOf(rest.origin, "includeRequestBody", "packAsBytes");
    const params = { field: "packAsBytes", actsOn: "bodies in messages of gRPC" };
    context.diagnostics.report("idle-callout-field", at, params);
  }
  const side = protocol.kind === "grpc" ? "call" : "request";
  const wanted = requestHeaders && resolveHeaderNames(requestHeaders, side, context);
  const names =
    protocol.kind === "grpc" ? wanted : [...protocol.alwaysSent, ...(wanted ?? ["authorization"])];
  return {
    ...rest,
    target,
    protocol: how,
    requestHeaders: names && [...new Set(names)],
    cache: cached,
  };
}

function resolveGrpc(
  { kind, contextExtensions, metadata }: GrpcProtocolConfig,
  context: ResolveContext,
): AuthorizationNode["protocol"] | undefined {
  if (metadata === undefined) return { kind, contextExtensions, metadata };
  const compiled = resolveOmissible(metadata, "request", context);
  const areObjects = compiled?.map(({ name, value }) => {
    const origin = metadata.find((each) => each.name === name)?.origin;
    return origin === undefined || checkResult(value, OBJECT, origin, context.diagnostics);
  });
  if (areObjects?.includes(false) === true) return undefined;
  return compiled && { kind, contextExtensions, metadata: compiled };
}

function resolveHttp(
  config: HttpProtocolConfig,
  context: ResolveContext,
): AuthorizationNode["protocol"] | undefined {
  const path = resolveOptional(config.path, TARGET, context);
  const redirect = resolveOptional(config.redirect, TEXT, context);
  const body = config.body && resolveOfRequest(config.body, ofRequest, context);
  const areHeaders = config.addHeaders.map(
    ({ name, origin }) => REQUEST_LINE.has(name) || checkHeaderName(name, origin, context),
  );
  const addHeaders = resolveExpressions(config.addHeaders.map(inLowerCase), "request", context);
  const metadata = resolveExpressions(config.metadata, "response", context);
  // `response` is the authorization server's: the request has not been forwarded yet.
  for (const [at, { value }] of (metadata ?? []).entries())
    reportEarlyIdentity(config.metadata[at]?.origin ?? context.origin, value.variables, context);
  if (path === "wrong" || redirect === "wrong" || areHeaders.includes(false)) return undefined;
  if ((body === undefined) !== (config.body === undefined)) return undefined;
  if (addHeaders === undefined || metadata === undefined) return undefined;
  const { responseHeaders: taken } = config;
  const responseHeaders =
    taken === "all" || taken === undefined
      ? (taken ?? [])
      : resolveHeaderNames(taken, "response", context);
  return { kind: "http", path, redirect, body, responseHeaders, addHeaders, metadata };
}

function inLowerCase(each: NamedExpression): NamedExpression {
  return { ...each, name: each.name.toLowerCase() };
}

const ofRequest = { phase: "request", slot: "value" } as const;

const OBJECT: ExpectedResult = {
  expected: 'an object like {"user": jwt.sub}',
  isOfType: (type) => type.startsWith("map("),
};

const TEXT: ExpectedResult = { expected: "a string", isOfType: (type) => type === "string" };

const TARGET: ExpectedResult = {
  ...TEXT,
  expected: 'a path and query like "/check"',
  isGood: (value) => typeof value === "string" && /^\/[^\s#\\]*$/.test(value),
};

function resolveOptional(
  config: ExpressionConfig | undefined,
  expected: ExpectedResult,
  context: ResolveContext,
) {
  if (config === undefined) return undefined;
  const compiled = resolveOfRequest(config, ofRequest, context);
  const isRight = compiled && checkResult(compiled, expected, config.origin, context.diagnostics);
  return isRight === true ? compiled : "wrong";
}

function resolveCache(
  { key, ttl, maxEntries, origin }: VerdictCacheConfig,
  showsBody: boolean,
  context: ResolveContext,
): VerdictCacheNode | undefined {
  const compiled = key.flatMap((each) => resolveOfRequest(each, ofRequest, context) ?? []);
  if (compiled.length !== key.length) return undefined;
  const at = childOf(origin, "key");
  if (compiled.every(({ variables }) => variables.length === 0))
    context.diagnostics.report("shared-verdict", at, {});
  else if (showsBody && !readsOfRequest(compiled, "body"))
    context.diagnostics.report("verdict-of-another", at, { of: "body" });
  else if (
    // The source of a connection is the caller.
    context.isOfConnections !== true &&
    compiled.every(isOfRequestAlone) &&
    !readsOfRequest(compiled, "headers")
  )
    context.diagnostics.report("verdict-of-another", at, { of: "caller" });
  const lifetime = resolveLifetime(ttl, childOf(origin, "ttl"), context);
  return lifetime === undefined ? undefined : { key: compiled, ttl: lifetime, maxEntries };
}

/** Returns milliseconds or a compiled expression; `undefined` if the field is invalid (reported). */
function resolveLifetime(
  ttl: VerdictCacheConfig["ttl"],
  origin: Origin,
  context: ResolveContext,
): VerdictCacheNode["ttl"] | undefined {
  if (typeof ttl === "number") {
    if (ttl > 0) return ttl;
    const params = { field: '"ttl"', bound: "must be at least 1ms" };
    context.diagnostics.report("out-of-range", origin, params);
    return undefined;
  }
  // The verdict has been applied by then, so its own metadata is known.
  const later = new Set([...(context.later ?? [])].filter((kind) => kind !== "extAuthz"));
  const compiled = resolveOfRequest(ttl, ofRequest, { ...context, later });
  const isSpan = compiled && checkResult(compiled, LIFETIME, ttl.origin, context.diagnostics);
  return isSpan === true ? compiled : undefined;
}

const LIFETIME = timeSpanResult("a duration, a timestamp or seconds since 1970", [
  ...["timestamp", "int", "uint", "double"],
]);
/** Parts of the request line that headers of a check over HTTP can set. */
const REQUEST_LINE: ReadonlySet<string> = new Set([":authority", ":method"]);

/** Reports that the request's body is not sent, because an expression replaces it. */
function reportIdleBody(
  protocol: AuthorizationConfig["protocol"],
  { body }: Pick<AuthorizationConfig, "body">,
  { diagnostics }: ResolveContext,
): void {
  if (protocol.kind !== "http" || protocol.body === undefined || body === undefined) return;
  const params = { field: "body", actsOn: "check requests without the client's body" };
  diagnostics.report("idle-callout-field", protocol.body.origin, params);
}

/** Whether one of the expressions reads this field of the request, or the whole request. */
function readsOfRequest(key: readonly CompiledExpression[], field: string): boolean {
  const reads = key.flatMap((each) => each.reads);
  return reads.some(([root, part]) => root === "request" && (part === undefined || part === field));
}

/**
 * Whether the key has only request fields. Every other variable identifies the caller or comes from a policy that
 * does.
 */
function isOfRequestAlone({ variables }: CompiledExpression): boolean {
  return variables.every((variable) => variable === "request");
}
