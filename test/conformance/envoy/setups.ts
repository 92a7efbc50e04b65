import { typed } from "../../harness/envoy.ts";
import { patient } from "../../harness/patient-callout.ts";
import { caseHeader } from "./observation.ts";

/** The same callout in the configuration of either. */
export interface Setup {
  readonly envoy: { readonly filters: readonly object[]; readonly route?: object };
  /** The policies of a route; `host` is where the services are. */
  readonly gateway: (host: string) => Readonly<Record<string, unknown>>;
}

const services = { envoy_grpc: { cluster_name: "services" }, timeout: "60s" };

/** Envoy passes WebSockets on only if it is configured to. */
const webSockets = { upgrade_configs: [{ upgrade_type: "websocket" }] };

/** Authorization over gRPC. */
export const extAuthzSetups: Readonly<Record<string, Setup>> = {
  plain: extAuthz({}, {}),
  body: extAuthz(
    { with_request_body: { max_request_bytes: 8 } },
    { includeRequestBody: { maxRequestBytes: 8 } },
  ),
  beginning: extAuthz(
    { with_request_body: { max_request_bytes: 8, allow_partial_message: true } },
    { includeRequestBody: { maxRequestBytes: 8, allowPartialMessage: true } },
  ),
  bytes: extAuthz(
    { with_request_body: { max_request_bytes: 8, pack_as_bytes: true } },
    { includeRequestBody: { maxRequestBytes: 8, packAsBytes: true } },
  ),
};

/** External processing. */
export const extProcSetups: Readonly<Record<string, Setup>> = {
  duplex: extProc("FULL_DUPLEX_STREAMED", "fullDuplexStreamed"),
  buffered: extProc("BUFFERED", "buffered"),
  streamed: extProc("STREAMED", "streamed"),
  partial: extProc("BUFFERED_PARTIAL", "bufferedPartial"),
  none: extProc("NONE", "none"),
  override: extProc("NONE", "none", true),
  trailing: extProc("NONE", "none", false, true),
  trailingWhole: extProc("BUFFERED", "buffered", false, true),
  trailingPieces: extProc("STREAMED", "streamed", false, true),
};

/** Limits of a service. */
export const rateLimitSetups: Readonly<Record<string, Setup>> = {
  user: rateLimit([[header("user", "x-user")]]),
  two: rateLimit([[header("user", "x-user")], [header("user", "x-user"), header("path", ":path")]]),
  fixed: rateLimit([[fixed("team", "blue")]]),
  verdict: rateLimit([[header("verdict", "x-verdict")]]),
};

function extAuthz(envoy: object, gateway: object): Setup {
  const settings = { transport_api_version: "V3", grpc_service: services, ...envoy };
  return {
    envoy: { filters: [filter("ext_authz", "ext_authz.v3.ExtAuthz", settings)], route: webSockets },
    gateway: (host) => ({ extAuthz: { host, policies: patient, ...gateway } }),
  };
}

/** `seesTrailers`: the processor gets them. */
function extProc(
  mode: string,
  ours: string,
  allowModeOverride = false,
  seesTrailers = mode === "FULL_DUPLEX_STREAMED",
): Setup {
  const trailers = seesTrailers ? "SEND" : "SKIP";
  const settings = {
    grpc_service: services,
    message_timeout: "60s",
    allow_mode_override: allowModeOverride,
    processing_mode: {
      ...{ request_header_mode: "SEND", response_header_mode: "SEND" },
      ...{ request_body_mode: mode, response_body_mode: mode },
      ...{ request_trailer_mode: trailers, response_trailer_mode: trailers },
    },
  };
  const processingOptions = {
    ...{ requestBodyMode: ours, responseBodyMode: ours, allowModeOverride },
    ...{ requestTrailerMode: trailers.toLowerCase(), responseTrailerMode: trailers.toLowerCase() },
  };
  return {
    envoy: {
      filters: [filter("ext_proc", "ext_proc.v3.ExternalProcessor", settings)],
      route: webSockets,
    },
    gateway: (host) => ({ extProc: { host, policies: patient, processingOptions } }),
  };
}

/** An entry of a descriptor in either's words. */
interface Entry {
  readonly envoy: object;
  readonly gateway: { readonly key: string; readonly value: string };
}

function rateLimit(descriptors: readonly (readonly Entry[])[]): Setup {
  const all = descriptors.map((entries) => [header("case", caseHeader), ...entries]);
  const settings = {
    domain: "shop",
    failure_mode_deny: true,
    timeout: "60s",
    enable_x_ratelimit_headers: "DRAFT_VERSION_03",
    rate_limit_service: { transport_api_version: "V3", grpc_service: services },
  };
  return {
    envoy: {
      filters: [filter("ratelimit", "ratelimit.v3.RateLimit", settings)],
      route: {
        rate_limits: all.map((entries) => ({ actions: entries.map(({ envoy }) => envoy) })),
      },
    },
    gateway: (host) => ({
      remoteRateLimit: {
        host,
        policies: patient,
        domain: "shop",
        descriptors: all.map((entries) => ({ entries: entries.map(({ gateway }) => gateway) })),
      },
    }),
  };
}

function header(key: string, name: string): Entry {
  return {
    envoy: { request_headers: { header_name: name, descriptor_key: key } },
    gateway: { key, value: name === ":path" ? "request.path" : `request.headers["${name}"]` },
  };
}

function fixed(key: string, value: string): Entry {
  return {
    envoy: { generic_key: { descriptor_key: key, descriptor_value: value } },
    gateway: { key, value: JSON.stringify(value) },
  };
}

function filter(name: string, type: string, settings: object): object {
  const typedConfig = typed(`envoy.extensions.filters.http.${type}`, settings);
  return { name: `envoy.filters.http.${name}`, typed_config: typedConfig };
}
