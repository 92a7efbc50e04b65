import { acmeOrders } from "../../runtime/metrics/table/acme.ts";
import { calloutDuration, calloutsTotal } from "../../runtime/metrics/table/callouts.ts";
import { certificateExpiry, tlsHandshakes } from "../../runtime/metrics/table/certificates.ts";
import {
  connectionsTotal,
  receivedBytes,
  sentBytes,
} from "../../runtime/metrics/table/connections.ts";
import { customPolicyBlocked, customPolicyCalls } from "../../runtime/metrics/table/custom.ts";
import { otlpDropped, otlpExported } from "../../runtime/metrics/table/exports.ts";
import { guardChecks, guardDuration } from "../../runtime/metrics/table/guards.ts";
import { identityExpiry } from "../../runtime/metrics/table/identity.ts";
import { rateLimited } from "../../runtime/metrics/table/limits.ts";
import {
  mcpEras,
  mcpMessageDuration,
  mcpMessages,
  mcpOmittedItems,
  mcpProcesses,
  mcpProcessFailures,
  mcpSessions,
  mcpTargetFailures,
  mcpWaitingCalls,
} from "../../runtime/metrics/table/mcp.ts";
import { meshCertificateExpiry } from "../../runtime/metrics/table/mesh.ts";
import {
  cacheRequests,
  cacheSaved,
  modelDuration,
  modelFirstToken,
  modelTokens,
  promptTokens,
  providerHealth,
} from "../../runtime/metrics/table/models.ts";
import {
  bufferedBytes,
  bufferedBytesLimit,
  buildInfo,
  eventLoopSeconds,
  lastReloadSuccessful,
  logLinesDropped,
  processCpu,
  processMemory,
} from "../../runtime/metrics/table/process.ts";
import {
  connectionsDenied,
  connectionsRefused,
  malformedRequests,
  requestDuration,
  requestsActive,
  requestsTotal,
  streamDuration,
} from "../../runtime/metrics/table/requests.ts";
import { storeErrors, storeFallbacks, storeUp } from "../../runtime/metrics/table/store.ts";
import {
  upstreamConnectDuration,
  upstreamConnections,
  upstreamConnectionsActive,
  upstreamRequests,
  upstreamRequestsActive,
  upstreamRequestsQueued,
  upstreamResponseStart,
} from "../../runtime/metrics/table/upstreams.ts";
import type { MetricGroupName } from "./metric-groups.ts";
import type { Promql } from "./promql.ts";

/** A graph: what it shows, in which of Grafana's units. */
export interface Panel {
  readonly title: string;
  readonly unit:
    | "reqps"
    | "ops"
    | "s"
    | "percentunit"
    | "short"
    | "bytes"
    | "Bps"
    | "dateTimeAsIso";
  readonly queries: readonly PanelQuery[];
}

/** A line of a graph, or several; `legend` takes `{{label}}`. */
export interface PanelQuery {
  readonly expr: string;
  readonly legend: string;
}

/** The graphs of each group of metrics. */
export const panels: Readonly<Record<MetricGroupName, (query: Promql) => readonly Panel[]>> = {
  requests: (query) => [
    panel("Requests by route", "reqps", [
      query.rate(requestsTotal, { by: ["route"] }),
      "{{route}}",
    ]),
    panel("Share of responses from 500 up", "percentunit", [
      // Routes without such responses have no series of them: their share is 0, not unknown.
      `(${query.rate(requestsTotal, { by: ["route"], where: { status: "5.." } })} or 0 * ${query.rate(requestsTotal, { by: ["route"] })}) / ${query.rate(requestsTotal, { by: ["route"] })}`,
      "{{route}}",
    ]),
    panel("Responses of the gateway itself, by reason", "reqps", [
      query.rate(requestsTotal, { by: ["reason"], where: { reason: ".+" } }),
      "{{reason}}",
    ]),
    panel(
      "Seconds to the end of the response",
      "s",
      [query.quantile(0.5, requestDuration, { by: ["route"] }), "{{route}} p50"],
      [query.quantile(0.99, requestDuration, { by: ["route"] }), "{{route}} p99"],
    ),
    panel("Seconds that streams last", "s", [
      query.quantile(0.5, streamDuration, { by: ["route"] }),
      "{{route}} p50",
    ]),
    panel("Requests in flight", "short", [query.sum(requestsActive), "requests and streams"]),
    panel(
      "Not taken",
      "ops",
      [query.rate(malformedRequests), "no HTTP"],
      [query.rate(connectionsRefused), "too many connections"],
      [query.rate(connectionsDenied), "not allowed to connect"],
    ),
  ],
  connections: (query) => [
    panel("TCP connections that ended", "ops", [
      query.rate(connectionsTotal, { by: ["route", "reason"] }),
      "{{route}} {{reason}}",
    ]),
    panel(
      "Bytes of TCP connections",
      "Bps",
      [query.rate(receivedBytes, { by: ["route"] }), "{{route}} from clients"],
      [query.rate(sentBytes, { by: ["route"] }), "{{route}} to clients"],
    ),
  ],
  upstreams: (query) => [
    panel("Requests to upstreams", "reqps", [
      query.rate(upstreamRequests, { by: ["upstream"] }),
      "{{upstream}}",
    ]),
    panel("Requests to upstreams that fail", "reqps", [
      // Every upstream has a series of each result: those that never came would fill the legend.
      `${query.rate(upstreamRequests, {
        by: ["upstream", "result"],
        where: { result: "error|connect|timeout|protocol|closed" },
      })} > 0`,
      "{{upstream}} {{result}}",
    ]),
    panel("Seconds to the head of an upstream's response, p95", "s", [
      query.quantile(0.95, upstreamResponseStart, { by: ["upstream"] }),
      "{{upstream}}",
    ]),
    panel(
      "Requests to upstreams in flight",
      "short",
      [query.sum(upstreamRequestsActive, { by: ["upstream"] }), "{{upstream}}"],
      [query.sum(upstreamRequestsQueued, { by: ["upstream"] }), "{{upstream}} waiting"],
    ),
    panel(
      "Connections to upstreams",
      "short",
      [query.sum(upstreamConnectionsActive, { by: ["upstream"] }), "{{upstream}} open"],
      [
        query.rate(upstreamConnections, { by: ["upstream"], where: { result: "failed" } }),
        "{{upstream}} failed per second",
      ],
    ),
    panel("Seconds to connect to an upstream, p95", "s", [
      query.quantile(0.95, upstreamConnectDuration, { by: ["upstream"] }),
      "{{upstream}}",
    ]),
  ],
  mcp: (query) => [
    panel("MCP messages", "ops", [
      query.rate(mcpMessages, { by: ["method", "outcome"] }),
      "{{method}} {{outcome}}",
    ]),
    panel("MCP messages that are denied, unknown or failed", "ops", [
      query.rate(mcpMessages, {
        by: ["target", "item", "outcome"],
        where: { outcome: "denied|unknown|failed" },
      }),
      "{{target}} {{item}} {{outcome}}",
    ]),
    panel(
      "Failures of MCP targets, and omitted entries of lists",
      "ops",
      [query.rate(mcpTargetFailures, { by: ["target", "kind"] }), "{{target}} {{kind}}"],
      [query.rate(mcpOmittedItems, { by: ["target", "list"] }), "{{target}} {{list}} omitted"],
    ),
    panel("Seconds of an MCP message, p95", "s", [
      query.quantile(0.95, mcpMessageDuration, { by: ["route", "target"] }),
      // Messages to all targets have none.
      "{{route}} {{target}}",
    ]),
    panel(
      "MCP sessions and processes",
      "short",
      [query.sum(mcpSessions), "sessions"],
      [query.sum(mcpProcesses, { by: ["target"] }), "{{target}} processes"],
      [query.rate(mcpProcessFailures, { by: ["target"] }), "{{target}} failures per second"],
    ),
    panel(
      "Eras of MCP clients and targets",
      "short",
      [query.rate(mcpEras, { by: ["client", "target"] }), "{{client}} to {{target}} per second"],
      [query.sum(mcpWaitingCalls, { by: ["era"] }), "{{era}} clients that were asked"],
    ),
  ],
  models: (query) => [
    panel("Requests to models", "reqps", [
      query.count(modelDuration, { by: ["gen_ai_request_model", "error_type"] }),
      "{{gen_ai_request_model}} {{error_type}}",
    ]),
    panel("Tokens per second", "short", [
      query.amount(modelTokens, { by: ["gen_ai_request_model", "gen_ai_token_type"] }),
      "{{gen_ai_request_model}} {{gen_ai_token_type}}",
    ]),
    panel("Tokens of prompts per second, by cache", "short", [
      query.rate(promptTokens, { by: ["gen_ai_request_model", "cache"] }),
      "{{gen_ai_request_model}} {{cache}}",
    ]),
    panel("Seconds to the end of a model's response, p95", "s", [
      query.quantile(0.95, modelDuration, { by: ["gen_ai_request_model"] }),
      "{{gen_ai_request_model}}",
    ]),
    panel("Seconds to the first content of a model's stream, p95", "s", [
      query.quantile(0.95, modelFirstToken, { by: ["gen_ai_request_model"] }),
      "{{gen_ai_request_model}}",
    ]),
    panel("Requests that caches of responses answer", "reqps", [
      query.rate(cacheRequests, { by: ["route", "result"] }),
      "{{route}} {{result}}",
    ]),
    panel("US dollars per second that caches save", "short", [
      query.rate(cacheSaved, { by: ["route"] }),
      "{{route}}",
    ]),
    panel("Health of providers, where there are several", "percentunit", [
      query.min(providerHealth, { by: ["route", "provider"] }),
      "{{route}} {{provider}}",
    ]),
  ],
  guards: (query) => [
    panel("What guards did", "ops", [
      query.rate(guardChecks, { by: ["phase", "guard", "action"] }),
      "{{phase}} {{guard}} {{action}}",
    ]),
    panel("Seconds of a guard, p95", "s", [
      query.quantile(0.95, guardDuration, { by: ["phase", "guard"] }),
      "{{phase}} {{guard}}",
    ]),
  ],
  callouts: (query) => [
    panel("Questions to servers of policies", "ops", [
      query.rate(calloutsTotal, { by: ["kind", "target", "result"] }),
      "{{kind}} {{target}} {{result}}",
    ]),
    panel("Seconds of a question to a server of a policy, p95", "s", [
      query.quantile(0.95, calloutDuration, { by: ["kind", "target"] }),
      "{{kind}} {{target}}",
    ]),
  ],
  custom: (query) => [
    panel("Calls of custom policies", "ops", [
      query.rate(customPolicyCalls, { by: ["policy", "hook", "result"] }),
      "{{policy}} {{hook}} {{result}}",
    ]),
    panel("Calls of custom policies that blocked the process", "ops", [
      query.rate(customPolicyBlocked, { by: ["policy", "hook"] }),
      "{{policy}} {{hook}}",
    ]),
  ],
  limits: (query) => [
    panel("Requests over a limit", "reqps", [
      query.rate(rateLimited, { by: ["route", "limit"] }),
      "{{route}}: {{limit}}",
    ]),
  ],
  store: (query) => [
    panel("Whether the store responds", "short", [query.min(storeUp), "up"]),
    panel("Commands that failed", "ops", [query.rate(storeErrors), "failed"]),
    panel("Decisions without the store", "ops", [
      query.rate(storeFallbacks, { by: ["decision"] }),
      "{{decision}}",
    ]),
  ],
  exports: (query) => [
    panel(
      "Spans and log records",
      "ops",
      [query.rate(otlpExported, { by: ["signal"] }), "{{signal}} taken"],
      [query.rate(otlpDropped, { by: ["signal"] }), "{{signal}} dropped"],
    ),
  ],
  certificates: (query) => [
    panel("TLS handshakes", "ops", [
      query.rate(tlsHandshakes, { by: ["port", "result"] }),
      "{{port}} {{result}}",
    ]),
    panel("Seconds until certificates expire", "s", [
      `${query.min(certificateExpiry, { by: ["hostname", "file"] })} - time()`,
      "{{hostname}}",
    ]),
  ],
  acme: (query) => [
    panel("Orders of certificates", "ops", [
      query.rate(acmeOrders, { by: ["result"] }),
      "{{result}}",
    ]),
  ],
  identity: (query) => [
    panel("Seconds until the identity expires", "s", [
      `${query.min(identityExpiry)} - time()`,
      "{{instance}}",
    ]),
  ],
  mesh: (query) => [
    panel("Seconds until the certificate of the mesh expires", "s", [
      `${query.min(meshCertificateExpiry)} - time()`,
      "{{instance}}",
    ]),
  ],
  process: (query) => [
    panel(
      "Cores",
      "short",
      [query.rate(processCpu), "CPU"],
      [query.rate(eventLoopSeconds, { by: ["thread"] }), "event loop of thread {{thread}}"],
    ),
    panel("Resident memory", "bytes", [query.sum(processMemory), "memory"]),
    panel(
      "Messages that are read whole",
      "bytes",
      [query.sum(bufferedBytes), "held"],
      [query.sum(bufferedBytesLimit), "limit"],
    ),
    panel("Log lines dropped", "ops", [query.rate(logLinesDropped), "lines"]),
    panel("Serves the newest configuration", "short", [query.min(lastReloadSuccessful), "1: yes"]),
    panel("Processes by configuration", "short", [
      query.sum(buildInfo, { by: ["gateway", "version", "config_digest"] }),
      "{{gateway}} {{config_digest}} of gwc {{version}}",
    ]),
  ],
};

function panel(
  title: string,
  unit: Panel["unit"],
  ...queries: readonly (readonly [expr: string, legend: string])[]
): Panel {
  return { title, unit, queries: queries.map(([expr, legend]) => ({ expr, legend })) };
}
