import { prepareHttp } from "../http/engine/prepare-http.ts";
import type { Handler } from "../http/exchange.ts";
import { malformedRequests } from "../metrics/table/requests.ts";
import type { ConnectionRules } from "../net/connected-client.ts";
import type { ConnectionSettings } from "../net/connection-settings.ts";
import type { PreparedDivision } from "../net/port-server.ts";
import type { ProxyProtocol } from "../net/proxy-protocol/proxy-protocol.ts";
import type { PortTls } from "../tls/certificates.ts";
import { contextOfPort, type Port, type PortContext } from "./port.ts";

/** Settings of an HTTP port. */
export interface HttpPortSettings {
  readonly port: number;
  /** IP address to listen on; all addresses if absent. */
  readonly address?: string;
  /** Place in the configuration, for the message if the port cannot be opened. */
  readonly config: string;
  /** One certificate per listener, chosen by SNI; plain HTTP if absent. */
  readonly tls?: PortTls;
  /** Whether requests choose their destination, so that clients may send the target in absolute form. */
  readonly isForwardProxy?: boolean;
  /** Whether a backend accepts tunnels, so that clients may request one with CONNECT. */
  readonly takesTunnels?: boolean;
  /** Whether a listener forwards paths as received; the others refuse ambiguous ones. */
  readonly keepsPaths?: boolean;
  /** Settings of its connections, except their number; those of the gateway if absent. */
  readonly connections?: ConnectionSettings;
  /** Rules for clients; all may connect if absent. */
  readonly connectionRules?: ConnectionRules;
  /** PROXY protocol of the port; if absent, clients connect directly. */
  readonly proxyProtocol?: ProxyProtocol;
  /** Divides TLS connections by server name; if absent, all use `tls`. */
  readonly division?: PortDivision;
  /** Routes one request and responds to it. */
  readonly handle: Handler;
}

/** Divides the connections of a port by server name (divide-tls.ts, which only bundles with such ports contain). */
export interface PortDivision {
  readonly prepare: (
    context: PortContext,
    connectionRules: ConnectionRules | undefined,
  ) => PreparedDivision;
}

/** A port with its handler, which can also be called without a connection. */
export interface HttpPort extends Port {
  readonly handle: Handler;
}

/** Creates a port that speaks HTTP/1.1 and HTTP/2. */
export function httpPort({
  port,
  address,
  config,
  tls,
  isForwardProxy = false,
  takesTunnels = false,
  keepsPaths = false,
  connections: own,
  connectionRules,
  proxyProtocol,
  division,
  handle,
}: HttpPortSettings): HttpPort {
  return {
    port,
    address,
    config,
    handle,
    prepare: (shared) => {
      const context = contextOfPort(shared, own);
      const { connections, metrics, exchangeBegan, exchangeEnded } = context;
      const { refused, denied, failedHandshake, failed, warn, broken, handover } = context;
      const malformedCount = metrics.counter(malformedRequests);
      return prepareHttp(
        {
          handle,
          began: exchangeBegan,
          isForwardProxy,
          takesTunnels,
          keepsPaths,
          connectionRules,
          denied,
          failedHandshake,
          proxyProtocol,
          division: division?.prepare(context, connectionRules),
          handover: handover?.port(`${address ?? ""}:${port}`),
          connections,
          ended: exchangeEnded,
          failed: ({ method, record }, error) =>
            failed(`${method} on route ${record.route ?? "-"}`, error),
          malformed: () => {
            malformedCount.value += 1;
          },
          refused,
          warn,
          broken,
        },
        tls,
      );
    },
  };
}
