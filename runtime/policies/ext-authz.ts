import type { JsonObject } from "../cel/variables.ts";
import { encodedMethod, type GrpcChannel } from "../grpc/channel.ts";
import {
  Authorization,
  type CheckResponse,
  type DeniedHttpResponse,
} from "../grpc/gen/envoy/service/auth/v3/external_auth_pb.ts";
import { GrpcError } from "../grpc/status.ts";
import type { Exchange } from "../http/exchange.ts";
import { grpcStatus } from "../http/grpc-status.ts";
import type { OnAbort } from "../process/on-abort.ts";
import { grpcCallout } from "../telemetry/callout.ts";
import { headerEdits, removedNames, replyHeaders } from "./envoy/header-edits.ts";
import type { ServerReply } from "./envoy/server-reply.ts";
import { checkRequest } from "./ext-authz/check-request.ts";
import {
  type BodyForwarding,
  type ForwardedBody,
  forwardedBody,
} from "./ext-authz/forwarded-body.ts";
import {
  askOverHttp,
  type HttpAuthorizationServer,
  type HttpQuestion,
} from "./ext-authz/http-check.ts";
import {
  type AuthorizationVerdict,
  applyFailure,
  applyVerdict,
  type NoVerdict,
  plainVerdict,
} from "./ext-authz/verdict.ts";
import { type Cached, cachedVerdict, type VerdictCache } from "./ext-authz/verdict-cache.ts";
import { plainValues } from "./transformations/plain-values.ts";

/** The settings that are independent of the server's protocol. */
interface Authorizer {
  /** The status of a request without a verdict, or whether it is allowed. */
  readonly failure: number | "allow";
  /** Absent if the server does not receive the body. */
  readonly body?: BodyForwarding;
  /** Absent if verdicts are not cached. */
  readonly cache?: VerdictCache;
}

/** An authorization server that speaks Envoy's gRPC protocol. */
export interface GrpcAuthorizer extends Authorizer {
  readonly server: GrpcChannel;
  /** Milliseconds. */
  readonly deadline: number;
  /** Lower-case names of the headers that it receives; absent for all. */
  readonly requestHeaders?: readonly string[];
  readonly contextExtensions: Readonly<Record<string, string>>;
}

/** An authorization server that speaks HTTP. */
export interface HttpAuthorizer extends Authorizer, HttpAuthorizationServer {}

/** Further contents of a check request. */
export interface GrpcQuestion extends Cached {
  /** Objects by namespace. */
  readonly metadata?: JsonObject;
}

/** Asks the server and applies its verdict. Returns false if the request was refused. */
export async function authorizeOverGrpc(
  exchange: Exchange,
  authorizer: GrpcAuthorizer,
  { metadata = {}, ...cached }: GrpcQuestion = {},
): Promise<boolean> {
  const { server, deadline, requestHeaders, contextExtensions } = authorizer;
  return authorize(exchange, authorizer, cached, async (body, onAbort) => {
    const objects = plainValues(metadata);
    const question = { requestHeaders, contextExtensions, metadata: objects, body };
    const request = checkRequest(exchange, question);
    const { check } = Authorization.method;
    const method = encodedMethod(check);
    const callout = grpcCallout(exchange, "extAuthz", server.name, check);
    callout.cancelWith(onAbort);
    try {
      const options = {
        deadline,
        metadata: callout.metadata,
        onAbort: callout.onAbort.bind(callout),
      };
      const verdict = verdictOf(
        await server.callEncoded(exchange.gateway, method, request, options),
      );
      callout.endWith(verdict.denial === undefined ? "ok" : "denied", grpcStatus.ok);
      return verdict;
    } catch (error) {
      if (!(error instanceof GrpcError)) throw error;
      callout.endWith("failed", error.code);
      return { kind: "none", detail: `${error.message} (gRPC status ${error.code})` };
    }
  });
}

/** Does the same over HTTP. */
export async function authorizeOverHttp(
  exchange: Exchange,
  authorizer: HttpAuthorizer,
  { key, lifetime, ...question }: HttpQuestion & Cached = {},
): Promise<boolean> {
  return authorize(exchange, authorizer, { key, lifetime }, (body, onAbort) =>
    askOverHttp(exchange, authorizer, question, body, onAbort),
  );
}

/** Returns the metadata that Envoy's JWT filter provides to authorization servers. */
export function jwtMetadata(claims: JsonObject | null): JsonObject {
  return claims === null ? {} : { "envoy.filters.http.jwt_authn": { jwt_payload: claims } };
}

async function authorize(
  exchange: Exchange,
  { server, failure, body: forwarding, cache }: GrpcAuthorizer | HttpAuthorizer,
  cached: Cached,
  ask: (
    body: ForwardedBody | undefined,
    onAbort: OnAbort,
  ) => Promise<AuthorizationVerdict | NoVerdict>,
): Promise<boolean> {
  const body = forwarding && (await forwardedBody(exchange, forwarding));
  if (exchange.headersSent || exchange.isOver) return false;
  const { found, keep } = await cachedVerdict(
    cache,
    cached,
    (onAbort) => ask(body, onAbort),
    exchange.onAbort.bind(exchange),
  );
  if (exchange.isOver) return false;
  if (found.kind === "none") return applyFailure(exchange, found, failure);
  const mayContinue = applyVerdict(exchange, found, server.name);
  keep();
  return mayContinue;
}

/** Converts a server's response (`service.auth.v3.CheckResponse`). Only its status decides whether the request is allowed. */
function verdictOf({ status, httpResponse, dynamicMetadata }: CheckResponse): AuthorizationVerdict {
  const metadata = dynamicMetadata;
  const code = status?.code ?? 0;
  if (code !== 0) {
    const denied = httpResponse.case === "deniedResponse" ? httpResponse.value : undefined;
    return {
      ...plainVerdict,
      status: `gRPC status ${code}`,
      denial: denied === undefined ? "refusal" : denialOf(denied),
      metadata,
    };
  }
  if (httpResponse.case !== "okResponse") return { ...plainVerdict, metadata };
  const allowed = httpResponse.value;
  return {
    ...plainVerdict,
    removed: removedNames(allowed.headersToRemove),
    headers: headerEdits(allowed.headers, "overwrite"),
    query: {
      set: allowed.queryParametersToSet.map(({ key, value }) => [key, value]),
      removed: allowed.queryParametersToRemove,
    },
    responseHeaders: headerEdits(allowed.responseHeadersToAdd, "append"),
    metadata: metadata ?? allowed.dynamicMetadata,
  };
}

function denialOf({ status, headers, body }: DeniedHttpResponse): ServerReply {
  const code = status?.code ?? 0;
  return {
    status: code >= 200 && code <= 599 ? code : 403,
    headers: replyHeaders(headers, body !== ""),
    body,
  };
}
