import type { BindNode } from "../../compiler/ir/program.ts";
import type { TcpBindNode, TcpListenerNode, TcpMode } from "../../compiler/ir/tcp.ts";
import type { CertificateNode, TlsNode } from "../../compiler/ir/tls.ts";
import { code, literal } from "../code/code.ts";
import { filePath } from "../code/file-path.ts";
import type { Code, ImportSymbol, Printable } from "../code/hole.ts";
import { imported } from "../code/names.ts";
import { milliseconds } from "../code/units.ts";
import { orderedCertificate } from "./acme.ts";
import { defaultListener } from "./bind.ts";

/** A listener with its certificate, if it has one. */
interface Certified {
  readonly hostname: string;
  readonly tls: CertificateNode | undefined;
  /** TLS settings of its own; absent if it uses those of the port. */
  readonly handshake?: TlsNode;
}

/** Context of a division: other owners of server names of an HTTPS port, and code. */
export interface DivisionContext {
  /** Connections of the port that are passed on; `undefined` on a port of HTTPS alone. */
  readonly tcp: TcpBindNode | undefined;
  /** Fields that the log lines of connections omit; `undefined` if they omit none. */
  readonly withoutFields: readonly string[] | undefined;
  /** Takes the handshakes of an ACME server; `undefined` if there are none. */
  readonly intercepted: ImportSymbol | undefined;
  /** Function that routes connections; `undefined` if none are routed. */
  readonly handle: Code | undefined;
}

/**
 * Writes the TLS settings of a port: its certificates, those of listeners without TLS settings of their own, and the
 * common settings.
 */
export function tlsValue(shared: TlsNode, listeners: readonly Certified[]): Printable {
  const own = listeners.filter(({ handshake }) => handshake === undefined);
  return settingsValue(
    shared,
    [defaultListener(own), ...own].filter((each, index, all) => all.indexOf(each) === index),
  );
}

/** Writes how an HTTPS port is divided by server name; `undefined` if all its TLS ends in the same way. */
export function divisionOfRequests(
  { listeners }: BindNode,
  { handshakeTimeout }: TlsNode,
  { tcp, intercepted, withoutFields, handle }: DivisionContext,
): Code | undefined {
  const streams = tcp?.listeners ?? [];
  const ofPort = tcp?.mode.kind === "terminate" ? tcp.mode.tls : undefined;
  const ended = streams.filter(({ tls }) => tls !== undefined);
  return divisionCode({
    endedHere: hostnames(listeners.filter((each) => each.handshake === undefined)),
    passedOn: hostnames(streams.filter(({ tls }) => tls === undefined)),
    ends: [...endsOf("requests", listeners, undefined), ...endsOf("connections", ended, ofPort)],
    intercepted,
    handshakeTimeout,
    withoutFields,
    handle,
  });
}

/**
 * Writes how a port of terminated connections is divided by server name; `undefined` if all its TLS ends in the same
 * way.
 */
export function divisionOfConnections(
  listeners: readonly TcpListenerNode[],
  { tls: { handshakeTimeout } }: Extract<TcpMode, { kind: "terminate" }>,
  { intercepted, withoutFields, handle }: Omit<DivisionContext, "tcp">,
): Code | undefined {
  const ended = listeners.filter(({ tls }) => tls !== undefined);
  return divisionCode({
    endedHere: hostnames(ended.filter((each) => each.handshake === undefined)),
    passedOn: hostnames(listeners.filter(({ tls }) => tls === undefined)),
    ends: endsOf("connections", ended, undefined),
    intercepted,
    handshakeTimeout,
    withoutFields,
    handle,
  });
}

/** A division as the runtime expects it. */
interface Division {
  readonly endedHere: readonly string[];
  readonly passedOn: readonly string[];
  readonly ends: readonly Printable[];
  readonly intercepted: ImportSymbol | undefined;
  /** In milliseconds. */
  readonly handshakeTimeout: number;
  readonly withoutFields: readonly string[] | undefined;
  readonly handle: Code | undefined;
}

function divisionCode({ passedOn, ends, handshakeTimeout, ...rest }: Division): Code | undefined {
  if (passedOn.length === 0 && ends.length === 0 && rest.intercepted === undefined)
    return undefined;
  const settings = {
    endedHere: rest.endedHere,
    passedOn: passedOn.length === 0 ? undefined : passedOn,
    ends: ends.length === 0 ? undefined : ends,
    intercepted: rest.intercepted,
    handshakeTimeout: milliseconds(handshakeTimeout),
    withoutFields: rest.withoutFields,
    handle: rest.handle,
  };
  return code`${imported("gwc/runtime/gateway/divide-tls", "divideTls")}(${literal(settings)})`;
}

/**
 * Writes one end for all listeners with the same TLS settings. `shared`: the end of listeners without settings of
 * their own; `undefined` if their TLS is not terminated.
 */
function endsOf(
  carries: "requests" | "connections",
  listeners: readonly Certified[],
  shared: TlsNode | undefined,
): readonly Printable[] {
  const found = listeners.flatMap((listener) => {
    const node = listener.handshake ?? shared;
    return node === undefined ? [] : [{ listener, node, key: JSON.stringify(node) }];
  });
  return [...Map.groupBy(found, ({ key }) => key).values()].flatMap((group) => {
    const own = group.map(({ listener }) => listener);
    const [first] = group;
    if (first === undefined) return [];
    return [{ hostnames: hostnames(own), carries, tls: settingsValue(first.node, own) }];
  });
}

function hostnames(listeners: readonly Certified[]): readonly string[] {
  return listeners.map(({ hostname }) => hostname);
}

function settingsValue(
  { clients, handshakeTimeout, ...shared }: TlsNode,
  listeners: readonly (Certified | undefined)[],
): Printable {
  return {
    certificates: listeners.flatMap((each) => (each === undefined ? [] : certificate(each))),
    handshakeTimeout: milliseconds(handshakeTimeout),
    ...shared,
    clients: clients && {
      authorities:
        clients.authorities === "workloadApi" ? IDENTITY : clients.authorities.map(filePath),
      mode: clients.mode,
    },
  };
}

/** The gateway's own identity. */
const IDENTITY = imported("gwc/runtime/tls/workload-identity", "workloadIdentity");

function certificate({ hostname, tls }: Certified): readonly Printable[] {
  if (tls === undefined) return [];
  if ("kind" in tls) {
    return tls.kind === "acme"
      ? [{ hostname, issued: orderedCertificate(hostname, tls) }]
      : [{ hostname, identity: IDENTITY }];
  }
  const file = imported(
    "gwc/runtime/process/startup-values",
    tls.isSecret === true ? "secretFile" : "file",
  );
  return [
    {
      hostname,
      certFile: code`${file}(${literal(tls.cert)})`,
      keyFile: code`${file}(${literal(tls.key)})`,
    },
  ];
}
