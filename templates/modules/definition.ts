import type {
  BindNode,
  CertificateFiles,
  ListenerNode,
  Program,
  TlsNode,
} from "../../compiler/ir/program.ts";
import type { TcpBindNode } from "../../compiler/ir/tcp.ts";
import { backendTemplateOf } from "../backends/index.ts";
import { type Code, code, imported, literal, name, type Printable } from "../code/code.ts";
import { originText } from "../code/trace.ts";
import { ACCESS_LOG_PATH } from "./access-log.ts";
import { defaultListener, handlerOf } from "./bind.ts";
import type { MainNames } from "./main-names.ts";

/** The gateway that `main.ts` exports: its ports and its settings. */
export function gatewayValue(program: Program, names: MainNames): Printable {
  const { name: gatewayName, binds, tcp, connections, process, logLevels } = program;
  return {
    name: gatewayName,
    ports: [
      ...binds.map((bind) => httpPort(bind, names)),
      ...tcp.map((bind) => tcpPort(bind, program, names)),
    ],
    connections: {
      ...connections,
      keepAlive: { ...connections.keepAlive },
      http2: { ...connections.http2 },
    },
    accessLog: accessLogValue(program),
    logLevels: logLevels && { ...logLevels },
    addresses: { ...process.addresses },
    drain: { ...process.drain },
  };
}

function httpPort(bind: BindNode, names: MainNames): Code {
  const { port, address, origin, tls, listeners } = bind;
  const settings = {
    port,
    address,
    config: originText(origin),
    tls: tls && tlsValue(tls, listeners),
    isForwardProxy: listeners.some(isForwardProxy) || undefined,
    handle: code`${name(handlerOf(bind, names))}`,
  };
  return code`${imported("gwc/runtime/gateway/http-port", "httpPort")}(${literal(settings)})`;
}

/** Clients of a forward proxy may know that it is one, and send the whole URL. */
function isForwardProxy({ routes }: ListenerNode): boolean {
  return routes.some(({ backends }) =>
    backends.some(({ kind }) => backendTemplateOf(kind).isForwardProxy === true),
  );
}

function accessLogValue({ process, accessLog }: Program): Printable {
  const from = (label: string): Printable => imported(ACCESS_LOG_PATH, label);
  return {
    format: process.logFormat,
    filter: accessLog?.filter && from("isLogged"),
    fields: accessLog?.fields && from("logFields"),
  };
}

const PORTS = "gwc/runtime/gateway/tcp-port";

function tcpPort(
  { port, address, origin, mode, listeners }: TcpBindNode,
  { accessLog }: Program,
  { ports }: MainNames,
): Code {
  const withoutFields = accessLog?.fields?.removed;
  const isWhole = withoutFields === undefined || withoutFields.length === 0;
  const common = {
    port,
    address,
    config: originText(origin),
    withoutFields: isWhole ? undefined : withoutFields,
  };
  const handle = code`${name(ports.get(port)?.handler ?? "")}`;
  switch (mode.kind) {
    case "plain":
      return code`${imported(PORTS, "tcpPort")}(${literal({ ...common, handle })})`;
    case "passthrough": {
      const { handshakeTimeout } = mode;
      const settings = literal({ ...common, handshakeTimeout, handle });
      return code`${imported(PORTS, "tlsPassthroughPort")}(${settings})`;
    }
    case "terminate": {
      const settings = literal({ ...common, tls: tlsValue(mode.tls, listeners), handle });
      return code`${imported(PORTS, "tlsTerminationPort")}(${settings})`;
    }
  }
}

/** A listener with the certificate that it may have. */
interface Certified {
  readonly hostname: string;
  readonly tls: CertificateFiles | undefined;
}

function tlsValue(
  { clientAuthorities, ...shared }: TlsNode,
  listeners: readonly Certified[],
): Printable {
  const file = imported("gwc/runtime/process/startup-values", "file");
  return {
    certificates: [defaultListener(listeners), ...listeners]
      .filter((listener, index, all) => all.indexOf(listener) === index)
      .flatMap((listener) => (listener === undefined ? [] : certificate(listener))),
    ...shared,
    clientAuthorities:
      clientAuthorities === undefined ? undefined : code`${file}(${literal(clientAuthorities)})`,
  };
}

function certificate({ hostname, tls }: Certified): readonly Printable[] {
  if (tls === undefined) return [];
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
