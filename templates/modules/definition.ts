import type { AccessLogNode } from "../../compiler/ir/access-log.ts";
import type { BackendKind, BackendNode } from "../../compiler/ir/backends.ts";
import type { MeshNode } from "../../compiler/ir/mesh.ts";
import type { BindNode, ListenerNode, Program } from "../../compiler/ir/program.ts";
import type { TcpBindNode } from "../../compiler/ir/tcp.ts";
import type { WorkloadApiNode } from "../../compiler/ir/workload-api.ts";
import type { WorkerThreads } from "../../runtime/gateway/definition.ts";
import type { ConnectionSettings } from "../../runtime/net/connection-settings.ts";
import { defaultConnections, defaultKeepAlive } from "../../runtime/net/default-connections.ts";
import { backendTemplateOf, sealedBy } from "../backends/index.ts";
import { keepAliveSettings } from "../backends/parts/connection.ts";
import { code, extension, literal } from "../code/code.ts";
import type { Code, ImportSymbol, Printable } from "../code/hole.ts";
import { imported, name } from "../code/names.ts";
import type { Trace } from "../code/trace.ts";
import { bytes, changed, milliseconds } from "../code/units.ts";
import { ACCESS_LOG_PATH } from "./access-log.ts";
import { acmeCode, handlerWithChallenges, interceptedHandshakes } from "./acme.ts";
import { handlerOf } from "./bind.ts";
import { connectionRulesOf } from "./connection-rules.ts";
import { KEYS_API_PATH } from "./keys-api.ts";
import type { MainNames } from "./main-names.ts";
import { METRIC_LABELS_PATH } from "./metric-labels.ts";
import { handlerWithoutTokens, ownTokens } from "./own-tokens.ts";
import { persistedState } from "./persisted-state.ts";
import {
  type DivisionContext,
  divisionOfConnections,
  divisionOfRequests,
  tlsValue,
} from "./port-tls.ts";
import { storeValue } from "./store.ts";
import { TRACING_PATH } from "./tracing.ts";
import { USAGE_PATH } from "./usage.ts";

/** Context of the gateway's value. */
interface GatewayContext {
  readonly names: MainNames;
  readonly trace: Trace;
  /** Whether it contains policies of users. */
  readonly hasPolicies: boolean;
}

/** Writes the gateway that `main.ts` exports: its ports and its settings. */
export function gatewayValue(
  program: Program,
  { names, trace, hasPolicies }: GatewayContext,
): Printable {
  const { name: gatewayName, binds, tcp, connections, process, logLevels } = program;
  const { mesh, workloadApi } = program;
  return {
    name: gatewayName,
    ports: [
      ...binds.map((bind) => httpPort(bind, program, names, trace)),
      ...tcp
        .filter(({ port }) => !binds.some((bind) => bind.port === port))
        .map((bind) => tcpPort(bind, program, names, trace)),
      ...keysApiPort(program, trace),
    ],
    connections: connectionsValue(connections),
    accessLog: accessLogValue(program),
    lateErrorText: hasPolicies
      ? imported("gwc/runtime/policies/custom/policy-errors", "lateErrorText")
      : undefined,
    metricLabels: program.metricLabels && imported(METRIC_LABELS_PATH, "metricLabels"),
    audit: process.audit && auditCode(process.audit.file),
    requestId: program.requestId && requestIdsCode(program.requestId),
    captureBodies: captureCode(program),
    tracing: program.tracing && imported(TRACING_PATH, "tracing"),
    countUsage: program.usage && imported(USAGE_PATH, "countUsage"),
    mesh: mesh && meshCode(mesh),
    identity: workloadApi && workloadApiCode(workloadApi),
    acme: acmeCode(program),
    logLevels: logLevels && { ...logLevels },
    addresses: { ...process.addresses },
    drain: { min: milliseconds(process.drain.min), max: milliseconds(process.drain.max) },
    workerThreads: process.workers && threadsValue(process.workers),
    ...(process.workers && heldState(binds)),
    store: storeValue(program),
    givesIds: allBackends(binds).some((node) => sealedBy(node) === "ids") || undefined,
    maxBufferedBytes: process.maxBufferedBytes && bytes(process.maxBufferedBytes),
  };
}

/**
 * Returns how threads share state of clients: how it is reached from any thread, how it is persisted, and how many
 * threads can divide its limits.
 */
function heldState(binds: readonly BindNode[]): Readonly<Record<string, Printable | undefined>> {
  const backends = allBackends(binds);
  const [handover] = backends.flatMap(({ kind }) => backendTemplateOf(kind).handover ?? []);
  const limits = backends.flatMap((node) => maxThreads(node) ?? []);
  return {
    handover,
    persistedMemory: persistedState({ binds }),
    maxThreads: limits.length === 0 ? undefined : Math.min(...limits),
  };
}

function allBackends(binds: readonly BindNode[]): readonly BackendNode[] {
  const routes = binds.flatMap(({ listeners }) => listeners.flatMap(({ routes: own }) => own));
  return routes.flatMap((route) => route.backends);
}

function maxThreads<Kind extends BackendKind>(node: BackendNode<Kind>): number | undefined {
  return backendTemplateOf<Kind>(node.kind).maxThreads?.(node);
}

function threadsValue(threads: WorkerThreads): Printable {
  return typeof threads === "number" ? threads : { ...threads };
}

function auditCode(path: string | undefined): Code | ImportSymbol {
  const module = "gwc/runtime/telemetry/logs/audit-log";
  if (path === undefined) return imported(module, "auditToStdout");
  const file = imported("gwc/runtime/process/startup-values", "file");
  return code`${imported(module, "auditFile")}(${file}(${literal(path)}))`;
}

function requestIdsCode(header: string): Code {
  return code`${imported("gwc/runtime/telemetry/request-id", "requestIds")}(${literal(header)})`;
}

/** Writes which bodies are captured for expressions of the log and of traces; `undefined` if none reads one. */
function captureCode({ capturedBodies: read, maxBufferSize }: Program): Code | undefined {
  if (read === undefined) return undefined;
  const settings = {
    maxBytes: bytes(maxBufferSize),
    request: read.request,
    response: read.response,
    completion: read.completion
      ? imported("gwc/runtime/llm/completion-texts", "completionTexts")
      : undefined,
    toolCalls: read.toolCalls
      ? imported("gwc/runtime/llm/completion-tool-calls", "completionToolCalls")
      : undefined,
    serviceTier: read.serviceTier
      ? imported("gwc/runtime/llm/service-tier", "serviceTier")
      : undefined,
    toolCall: read.toolCall ? imported("gwc/runtime/mcp/captured-call", "capturedCall") : undefined,
  };
  return code`${imported("gwc/runtime/http/capture-bodies", "captureBodies")}(${literal(settings)})`;
}

function meshCode({ trustDomain, certificates }: MeshNode): Code {
  const { kind, ...source } = certificates;
  const settings = literal({ ...source, trustDomain });
  const open =
    kind === "authority"
      ? imported("gwc/runtime/mesh/istio-authority", "istioMesh")
      : imported("gwc/runtime/mesh/mesh-files", "meshOfFiles");
  return code`${open}(${settings})`;
}

function workloadApiCode({ endpoint }: WorkloadApiNode): Code {
  return code`${imported("gwc/runtime/spiffe/workload-api", "workloadApi")}(${literal(endpoint)})`;
}

/** Writes the settings of clients' connections that differ from the defaults. */
function connectionsValue({ keepAlive, http2, ...rest }: ConnectionSettings): Printable {
  const before = defaultConnections;
  return extension(DEFAULTS, {
    keepAlive:
      keepAlive !== false && isEqual(keepAlive, defaultKeepAlive)
        ? undefined
        : keepAliveSettings(keepAlive),
    maxHeaders: changed(rest.maxHeaders, before.maxHeaders),
    minBodyRate: changed(rest.minBodyRate, before.minBodyRate),
    idleTimeout: changed(rest.idleTimeout, before.idleTimeout, milliseconds),
    maxConnections: changed(rest.maxConnections, before.maxConnections),
    maxDuration: changed(rest.maxDuration, before.maxDuration, milliseconds),
    lowercasesNames: rest.lowercasesNames,
    http2: isEqual(http2, before.http2) ? undefined : http2Value(http2),
  });
}

function ownConnections({ connections }: BindNode | TcpBindNode): Printable | undefined {
  return connections && connectionsValue(connections);
}

function http2Value(http2: ConnectionSettings["http2"]): Printable {
  return {
    windowSize: bytes(http2.windowSize),
    connectionWindowSize: bytes(http2.connectionWindowSize),
    frameSize: bytes(http2.frameSize),
    maxHeaderSize: bytes(http2.maxHeaderSize),
    keepAliveInterval: http2.keepAliveInterval && milliseconds(http2.keepAliveInterval),
    keepAliveTimeout: milliseconds(http2.keepAliveTimeout),
  };
}

function isEqual(left: object, right: object): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}

const DEFAULTS = imported("gwc/runtime/net/default-connections", "defaultConnections");

function httpPort(bind: BindNode, program: Program, names: MainNames, trace: Trace): Code {
  const { port, address, proxyProtocol, origin, tls, listeners } = bind;
  const settings = {
    port,
    address,
    config: trace.text(origin),
    connections: ownConnections(bind),
    connectionRules: connectionRulesOf(bind, program),
    proxyProtocol: proxyProtocol && proxyProtocolCode(proxyProtocol),
    tls: tls && code`${END_TLS}(${literal(tlsValue(tls, listeners))})`,
    isForwardProxy: listeners.some(isForwardProxy) || undefined,
    takesTunnels: listeners.some(takesTunnels) || undefined,
    keepsPaths: listeners.some(({ pathHandling }) => pathHandling === "verbatim") || undefined,
    division: tls && divisionOfRequests(bind, tls, divided(port, program, names)),
    handle: portHandler(bind, program, names),
  };
  return code`${imported("gwc/runtime/gateway/http-port", "httpPort")}(${literal(settings)})`;
}

/** Writes the handler of a port, with what runs before a listener is chosen. */
function portHandler(bind: BindNode, program: Program, names: MainNames): Code {
  const handler = handlerWithoutTokens(code`${name(handlerOf(bind, names))}`, ownTokens(program));
  return bind.tls === undefined ? handlerWithChallenges(handler, program) : handler;
}

/** Writes the port of the HTTP API for keys. */
function keysApiPort({ keysApi }: Program, trace: Trace): readonly Code[] {
  if (keysApi === undefined) return [];
  const { port, address, origin } = keysApi;
  const handle = imported(KEYS_API_PATH, "keysApi");
  const settings = { port, address, config: trace.text(origin), handle };
  return [code`${imported("gwc/runtime/gateway/http-port", "httpPort")}(${literal(settings)})`];
}

const END_TLS = imported("gwc/runtime/tls/certificates", "endTls");

function proxyProtocolCode(settings: NonNullable<BindNode["proxyProtocol"]>): Code {
  const open = imported("gwc/runtime/net/proxy-protocol/proxied-connections", "proxyProtocol");
  return code`${open}(${literal({ ...settings })})`;
}

/** Returns the context of a port's division. */
function divided(port: number, program: Program, { connections }: MainNames): DivisionContext {
  const handler = connections.get(port);
  return {
    tcp: program.tcp.find((each) => each.port === port),
    intercepted: interceptedHandshakes(program),
    withoutFields: fieldsLeftOut(program),
    handle: handler === undefined ? undefined : code`${name(handler)}`,
  };
}

/** Returns whether clients may treat a listener as a forward proxy and send whole URLs. */
function isForwardProxy({ routes }: ListenerNode): boolean {
  return routes.some(({ backends }) =>
    backends.some(({ kind }) => backendTemplateOf(kind).isForwardProxy === true),
  );
}

function takesTunnels({ routes }: ListenerNode): boolean {
  return routes.some(({ backends }) => backends.some(nodeTakesTunnels));
}

function nodeTakesTunnels<Kind extends BackendKind>(node: BackendNode<Kind>): boolean {
  return backendTemplateOf<Kind>(node.kind).takesTunnels?.(node) === true;
}

function accessLogValue({ process, accessLog }: Program): Printable {
  const from = (label: string): Printable => imported(ACCESS_LOG_PATH, label);
  return {
    format: process.logFormat,
    filter: accessLog?.filter && from("isLogged"),
    fields: accessLog?.fields && from("logFields"),
    export: accessLog?.collector && otlpAccessLogCode(accessLog),
  };
}

function otlpAccessLogCode({ records }: AccessLogNode): Code {
  const open = imported("gwc/runtime/telemetry/otlp/otlp-access-log", "otlpAccessLog");
  const collector = imported(ACCESS_LOG_PATH, "logCollector");
  if (records === undefined) return code`${open}(${collector})`;
  const settings = {
    filter: records.filter && imported(ACCESS_LOG_PATH, "isExported"),
    fields: records.fields && imported(ACCESS_LOG_PATH, "recordFields"),
    messages: records.messages && imported(ACCESS_LOG_PATH, "messages"),
  };
  return code`${open}(${collector}, ${literal(settings)})`;
}

const PORTS = "gwc/runtime/gateway/tcp-port";

function tcpPort(
  bind: TcpBindNode,
  program: Program,
  { connections }: MainNames,
  trace: Trace,
): Code {
  const { port, address, proxyProtocol, origin, mode, listeners } = bind;
  const common = {
    port,
    address,
    config: trace.text(origin),
    connections: ownConnections(bind),
    connectionRules: connectionRulesOf(bind, program),
    proxyProtocol: proxyProtocol && proxyProtocolCode(proxyProtocol),
    withoutFields: fieldsLeftOut(program),
  };
  const handle = code`${name(connections.get(port) ?? "")}`;
  switch (mode.kind) {
    case "plain":
      return code`${imported(PORTS, "tcpPort")}(${literal({ ...common, handle })})`;
    case "passthrough": {
      const { handshakeTimeout } = mode;
      const settings = literal({
        ...common,
        handshakeTimeout: milliseconds(handshakeTimeout),
        handle,
      });
      return code`${imported(PORTS, "tlsPassthroughPort")}(${settings})`;
    }
    case "terminate": {
      const settings = literal({
        ...common,
        tls: tlsValue(mode.tls, listeners),
        division: divisionOfConnections(listeners, mode, {
          intercepted: interceptedHandshakes(program),
          withoutFields: common.withoutFields,
          handle,
        }),
        handle,
      });
      return code`${imported(PORTS, "tlsTerminationPort")}(${settings})`;
    }
  }
}

/** Returns the fields that the log lines of connections omit; `undefined` if they omit none. */
function fieldsLeftOut({ accessLog }: Program): readonly string[] | undefined {
  const removed = accessLog?.fields?.removed;
  return removed === undefined || removed.length === 0 ? undefined : removed;
}
