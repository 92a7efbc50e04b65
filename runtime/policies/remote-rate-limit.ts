import type { LlmVariable, ResponseVariables } from "../cel/variables.ts";
import type { GrpcChannel } from "../grpc/channel.ts";
import type { HeaderValue } from "../grpc/gen/envoy/config/core/v3/base_pb.ts";
import {
  type RateLimitResponse,
  RateLimitResponse_Code,
  type RateLimitResponse_DescriptorStatus,
  RateLimitService,
} from "../grpc/gen/envoy/service/ratelimit/v3/rls_pb.ts";
import { GrpcError } from "../grpc/status.ts";
import { askBeforeCall, type Exchange, logFields } from "../http/exchange.ts";
import { grpcStatus } from "../http/grpc-status.ts";
import type { HeaderEdit } from "../http/headers/header-edits.ts";
import { ReceivedResponse } from "../http/received-response.ts";
import { refuse } from "../http/refuse.ts";
import type { OnAbort } from "../process/on-abort.ts";
import { grpcCallout } from "../telemetry/callout.ts";
import { noteRateLimited } from "../telemetry/rate-limited.ts";
import { editRequest, editResponse, readHeader } from "./envoy/header-edits.ts";
import { replyFor } from "./envoy/server-reply.ts";
import {
  type CountedUse,
  descriptorOf,
  type LimitDescriptor,
} from "./remote-rate-limit/descriptor.ts";

/** A service that counts for all gateways. */
export interface LimitService {
  readonly server: GrpcChannel;
  /** Milliseconds. */
  readonly deadline: number;
  readonly domain: string;
  /** Whether requests continue if the service returns no verdict. */
  readonly passesOnFailure: boolean;
}

/** The counted parts of a request. */
export interface Counted {
  /** Counted before the backend is called. */
  readonly requests?: readonly CountedUse[];
  /** Checked before, and counted after the response. */
  readonly tokens?: readonly CountedTokens[];
}

/** The counted part of a response. */
export interface CountedTokens extends Omit<CountedUse, "cost"> {
  /** Returns the number to count; absent for the tokens of the call. */
  readonly cost?: (llm: LlmVariable, response: ResponseVariables) => unknown;
}

/**
 * Counts the request and checks its token limits in one call; counts the tokens later. Returns false if a limit is exceeded
 * or the service failed.
 */
export async function admitCounted(
  exchange: Exchange,
  service: LimitService,
  { requests = [], tokens = [] }: Counted,
): Promise<boolean> {
  const descriptors = [
    ...requests.flatMap((use) => descriptorOf(use, use.cost ?? 1) ?? []),
    // The number of tokens is not known yet, so 0 only checks whether any are left.
    ...tokens.flatMap(({ entries, limit }) => descriptorOf({ entries, limit }, 0) ?? []),
  ];
  if (descriptors.length === 0) return true;
  const response = await ask(exchange, service, descriptors, exchange.onAbort.bind(exchange));
  if (exchange.isOver) return false;
  if (response instanceof GrpcError) return applyFailure(exchange, service, response);
  if (!applyResponse(exchange, response, limitsOf(service, descriptors, response))) return false;
  if (tokens.length > 0) exchange.onClose(() => countTokens(exchange, service, tokens));
  return true;
}

/** Does the same before routing; token limits are checked if the request turns out to be for a model. */
export function admitCountedBeforeRouting(
  exchange: Exchange,
  service: LimitService,
  { requests = [], tokens = [] }: Counted,
): Promise<boolean> {
  askBeforeCall(exchange, () => admitCounted(exchange, service, { tokens }));
  return admitCounted(exchange, service, { requests });
}

async function ask(
  exchange: Exchange,
  { server, deadline, domain }: LimitService,
  descriptors: readonly LimitDescriptor[],
  onAbort?: OnAbort,
): Promise<RateLimitResponse | GrpcError> {
  const { shouldRateLimit } = RateLimitService.method;
  const request = { domain, descriptors: [...descriptors] };
  const callout = grpcCallout(exchange, "remoteRateLimit", server.name, shouldRateLimit);
  if (onAbort !== undefined) callout.cancelWith(onAbort);
  const options = {
    deadline,
    metadata: callout.metadata,
    onAbort: callout.onAbort.bind(callout),
  };
  try {
    const response = await server.call(exchange.gateway, shouldRateLimit, request, options);
    const { overallCode: code } = response;
    if (code === RateLimitResponse_Code.UNKNOWN) {
      callout.end("failed", "unknown");
      return new GrpcError(0, "the service returned neither OK nor OVER_LIMIT");
    }
    callout.endWith(code === RateLimitResponse_Code.OK ? "ok" : "denied", grpcStatus.ok);
    return response;
  } catch (error) {
    if (!(error instanceof GrpcError)) throw error;
    callout.endWith("failed", error.code);
    return error;
  }
}

/** Names the exceeded limits: the domain and the keys of their descriptors, without values, which may contain client data. */
function limitsOf(
  { domain }: LimitService,
  descriptors: readonly LimitDescriptor[],
  { statuses }: RateLimitResponse,
): string {
  const over = descriptors.filter(
    (_, index) => statuses[index]?.code === RateLimitResponse_Code.OVER_LIMIT,
  );
  // Without a specific exceeded status, all of them count as exceeded.
  const meant = over.length === 0 ? descriptors : over;
  const keys = meant.map(({ entries = [] }) => entries.map(({ key }) => key).join("+"));
  return [domain, ...new Set(keys)].join(" ");
}

function applyResponse(exchange: Exchange, response: RateLimitResponse, limit: string): boolean {
  const limits = strictestLimit(response.statuses);
  for (const [name, value] of limits) exchange.setResponseHeader(name, value);
  editResponse(exchange, appended(response.responseHeadersToAdd));
  if (response.overallCode === RateLimitResponse_Code.OK) {
    editRequest(exchange, appended(response.requestHeadersToAdd));
    return true;
  }
  noteRateLimited(exchange, "remoteRateLimit", limit);
  const reset = limits.get("x-ratelimit-reset");
  const headers = reset === undefined ? [] : ["retry-after", reset];
  if (response.rawBody.length === 0) {
    refuse(exchange, 429, "RateLimit", "rate limit exceeded", headers);
  } else {
    exchange.record.reason = "RateLimit";
    const reply = replyFor(exchange, { status: 429, headers, body: response.rawBody });
    exchange.respond(reply.status, reply.headers, reply.body);
  }
  return false;
}

function appended(headers: readonly HeaderValue[]): readonly HeaderEdit[] {
  return headers.flatMap((header) => {
    const field = readHeader(header);
    return field === undefined ? [] : [{ ...field, action: "append" as const }];
  });
}

function applyFailure(
  exchange: Exchange,
  { passesOnFailure }: LimitService,
  { message, code }: GrpcError,
): boolean {
  logFields(exchange.record).set("error", `rate limit service: ${message} (gRPC status ${code})`);
  if (!passesOnFailure) refuse(exchange, 500, "RateLimit", "rate limit failed");
  return passesOnFailure;
}

/** Counts tokens after the response. If that fails, the count is lost and a warning is logged. */
function countTokens(
  exchange: Exchange,
  service: LimitService,
  tokens: readonly CountedTokens[],
): void {
  const { attributes, record, responseStatus = 0, responseHeaders, gateway } = exchange;
  const descriptors = tokens.flatMap(({ entries, limit, cost }) => {
    const response = new ReceivedResponse(responseStatus, responseHeaders);
    const used = cost === undefined ? attributes.llm?.totalTokens : cost(attributes.llm, response);
    return used === undefined ? [] : (descriptorOf({ entries, limit }, used) ?? []);
  });
  if (descriptors.length === 0) return;
  void ask(exchange, service, descriptors).then((response) => {
    if (response instanceof GrpcError) {
      gateway.warn(`did not count tokens of route ${record.route}: ${response.message}`);
    }
  });
}

/** Returns the headers of the limit with the least remaining; none if no limit is known. */
function strictestLimit(
  statuses: readonly RateLimitResponse_DescriptorStatus[],
): ReadonlyMap<string, string> {
  const limited = statuses.filter(({ currentLimit }) => currentLimit !== undefined);
  const [strictest] = limited.toSorted((a, b) => a.limitRemaining - b.limitRemaining);
  if (strictest === undefined) return new Map();
  const { currentLimit, limitRemaining, durationUntilReset } = strictest;
  const headers = new Map([
    ["x-ratelimit-limit", String(currentLimit?.requestsPerUnit)],
    ["x-ratelimit-remaining", String(limitRemaining)],
  ]);
  if (durationUntilReset !== undefined) {
    headers.set("x-ratelimit-reset", String(durationUntilReset.seconds));
  }
  return headers;
}
