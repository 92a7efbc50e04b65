import type { PolicyUse } from "../../compiler/ir/policies.ts";
import type { CompiledExpression } from "../../compiler/model/expressions.ts";
import { upstreamCode } from "../backends/parts/connection.ts";
import { code, literal } from "../code/code.ts";
import type { Hole, Printable } from "../code/hole.ts";
import { imported, importedType, name } from "../code/names.ts";
import { readsBody } from "../code/reads.ts";
import { bytes, milliseconds } from "../code/units.ts";
import { valueFunction } from "../code/value-function.ts";
import { connectionCheck } from "./ext-authz/connection-check.ts";
import { type AuthorizerSettings, verdictCache } from "./ext-authz/verdict-cache.ts";
import { grpcChannelCode } from "./parts/callout-target.ts";
import { type CaseCode, casesCode } from "./parts/cases.ts";
import {
  headersFunction,
  listFunction,
  ofResponse,
  valuesFunction,
} from "./parts/object-function.ts";
import type { BackendSteps, PolicyTemplate, RouteScope } from "./policy.ts";

const MODULE = "gwc/runtime/policies/ext-authz";

type Protocol<Kind> = Extract<AuthorizerSettings["protocol"], { kind: Kind }>;

/** `extAuthz`: the server, the functions for its request, and the statement that calls it. */
export const extAuthzTemplate: PolicyTemplate<"extAuthz"> = {
  detail: ({ cases }) => [...new Set(cases.map(({ value }) => value.protocol.kind))].join(", "),
  attributes: () => ["extauthz"],
  beforeBackend,
  connectionRules: connectionCheck,
  code: ({ settings: { cases } }, scope) => {
    const made = casesCode(cases, "isAuthorizedBy", scope, (value, suffix) =>
      authorizationCode(value, suffix, scope),
    );
    const read = cases.flatMap(({ value }) => requestExpressions(value));
    return {
      ...made,
      isAsync: true,
      readsRequestBody: made.readsRequestBody || readsBody(read, "request"),
    };
  },
};

/** Writes the server of the route's backends, which is asked last. */
function beforeBackend(
  { settings: { cases } }: PolicyUse<"extAuthz">,
  scope: RouteScope,
): BackendSteps {
  const made = casesCode(cases, "isAuthorizedForBackendBy", scope, (value, suffix) =>
    authorizationCode(value, `ForBackend${suffix}`, scope, "questionForBackend"),
  );
  const { declarations, steps } = made;
  const read = cases.flatMap(({ value }) => requestExpressions(value));
  const readsRequestBody = made.readsRequestBody === true || readsBody(read, "request");
  return { declarations, steps, readsRequestBody };
}

/** Returns the expressions that are evaluated before the server is called, or on the request after it was. */
function requestExpressions({
  protocol,
  cache,
}: AuthorizerSettings): readonly CompiledExpression[] {
  const own =
    protocol.kind === "grpc"
      ? (protocol.metadata ?? []).map(({ value }) => value)
      : [
          ...(protocol.path === undefined ? [] : [protocol.path]),
          ...(protocol.redirect === undefined ? [] : [protocol.redirect]),
          ...(protocol.body === undefined ? [] : [protocol.body]),
          ...[...protocol.addHeaders, ...protocol.metadata].map(({ value }) => value),
        ];
  const ttl = cache === undefined || typeof cache.ttl === "number" ? [] : [cache.ttl];
  return [...own, ...(cache?.key ?? []), ...ttl];
}

/** A field of the server's request, and the function that computes it. */
interface QuestionPart {
  readonly declarations: readonly Hole[];
  readonly members: Readonly<Record<string, Printable>>;
}

function authorizationCode(
  value: AuthorizerSettings,
  suffix: string,
  scope: RouteScope,
  variable = "question",
): CaseCode {
  const { protocol, origin } = value;
  const label = name(`extAuthz${suffix}`);
  const parts = [
    ...(protocol.kind === "grpc"
      ? [claimsPart(protocol, suffix, origin, scope)]
      : httpParts(protocol, suffix, origin, scope)),
    keyPart(value, suffix, scope),
  ];
  const question: Readonly<Record<string, Printable>> = Object.assign(
    {},
    ...parts.map(({ members }) => members),
  );
  const isPlain = Object.keys(question).length === 0;
  const [type, ask] =
    protocol.kind === "grpc"
      ? ["GrpcAuthorizer", "authorizeOverGrpc"]
      : ["HttpAuthorizer", "authorizeOverHttp"];
  return {
    declarations: [
      code`
        ${scope.trace(origin)}
        const ${label}: ${importedType(MODULE, type)} = ${literal(settingsOf(value))};
      `,
      ...parts.flatMap(({ declarations }) => declarations),
    ],
    steps: isPlain
      ? [code`if (!(await ${imported(MODULE, ask)}(exchange, ${label}))) return;`]
      : [
          code`const ${name(variable)} = ${literal(question)};`,
          code`if (!(await ${imported(MODULE, ask)}(exchange, ${label}, ${name(variable)}))) return;`,
        ],
  };
}

function settingsOf({
  target,
  protocol,
  failure,
  requestHeaders,
  body,
  cache,
}: AuthorizerSettings): Readonly<Record<string, Printable | undefined>> {
  const common = {
    deadline: milliseconds(target.deadline),
    failure,
    body: body && { ...body, maxSize: bytes(body.maxSize) },
    cache: cache && verdictCache(cache),
  };
  if (protocol.kind === "grpc") {
    const { contextExtensions } = protocol;
    const server = grpcChannelCode(target);
    return { server, requestHeaders, contextExtensions: { ...contextExtensions }, ...common };
  }
  const { responseHeaders } = protocol;
  const server = upstreamCode(target.url, target.connection);
  return {
    server,
    requestHeaders,
    responseHeaders,
    ...common,
  };
}

/** Returns the configured metadata; otherwise the claims, if an earlier policy verified a token. */
function claimsPart(
  { metadata }: Protocol<"grpc">,
  suffix: string,
  origin: AuthorizerSettings["origin"],
  scope: RouteScope,
): QuestionPart {
  if (metadata === undefined) {
    if (!scope.variables.has("jwt")) return NOTHING;
    const claims = scope.variables.argument("jwt");
    return {
      declarations: [],
      members: { metadata: code`${imported(MODULE, "jwtMetadata")}(${claims})` },
    };
  }
  const made = valuesFunction(`extAuthzMetadata${suffix}`, metadata, origin, scope);
  return made === undefined
    ? NOTHING
    : { declarations: [made.declaration], members: { metadata: made.call } };
}

const NOTHING: QuestionPart = { declarations: [], members: {} };

function httpParts(
  { path, redirect, body, addHeaders, metadata }: Protocol<"http">,
  suffix: string,
  origin: AuthorizerSettings["origin"],
  scope: RouteScope,
): readonly QuestionPart[] {
  const headers = headersFunction(`extAuthzHeaders${suffix}`, addHeaders, scope);
  const result = valuesFunction(`extAuthzMetadata${suffix}`, metadata, origin, scope);
  const target = path && valueCall(`extAuthzPath${suffix}`, path, scope);
  const sent = body && valueCall(`extAuthzBody${suffix}`, body, scope);
  const location = redirect && valueCall(`extAuthzRedirect${suffix}`, redirect, scope);
  return [
    ...(target === undefined ? [] : [part(target.declaration, { path: target.call })]),
    ...(sent === undefined ? [] : [part(sent.declaration, { body: sent.call })]),
    ...(headers === undefined ? [] : [part(headers.declaration, { headers: headers.call })]),
    ...(location === undefined
      ? []
      : [part(location.declaration, { redirect: code`() => ${location.call}` })]),
    ...(result === undefined ? [] : [part(result.declaration, { metadata: ofResponse(result) })]),
  ];
}

function part(declaration: Hole, members: QuestionPart["members"]): QuestionPart {
  return { declarations: [declaration], members };
}

function valueCall(label: string, expression: CompiledExpression, scope: RouteScope) {
  return valueFunction(label, expression, scope.expressions, scope.variables);
}

/** Writes the key of the cached verdict, and its lifetime if that is an expression. */
function keyPart({ cache }: AuthorizerSettings, suffix: string, scope: RouteScope): QuestionPart {
  if (cache === undefined) return NOTHING;
  const { key, ttl } = cache;
  const made = listFunction(`extAuthzKey${suffix}`, key, scope);
  if (typeof ttl === "number") return part(made.declaration, { key: made.call });
  const lifetime = valueCall(`extAuthzLifetime${suffix}`, ttl, scope);
  return {
    declarations: [made.declaration, lifetime.declaration],
    members: { key: made.call, lifetime: code`() => ${lifetime.call}` },
  };
}
