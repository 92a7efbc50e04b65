import { prepareHttp } from "../http/engine/prepare-http.ts";
import type { Handler } from "../http/exchange.ts";
import { malformedRequests } from "../metrics/table/requests.ts";
import type { ConnectionRules } from "../net/connected-client.ts";
import type { PreparedDivision } from "../net/port-server.ts";
import type { ProxyProtocol } from "../net/proxy-protocol/proxy-protocol.ts";
import type { PortTls } from "../tls/certificates.ts";
import type { Port, PortContext } from "./port.ts";

/** What a port of HTTP is made of. */
export interface HttpPortSettings {
  readonly port: number;
  /** The IP address that it is open on; absent: every one of the machine. */
  readonly address?: string;
  /** Where the configuration says so, for the message when the port can't be opened. */
  readonly config: string;
  /** One certificate per listener, chosen by SNI. Absent: plain HTTP. */
  readonly tls?: PortTls;
  /** True where requests choose their destination: a client may send the target in absolute form. Absent: false. */
  readonly isForwardProxy?: boolean;
  /** True where a backend takes tunnels: a client may ask for one with CONNECT. Absent: false. */
  readonly takesTunnels?: boolean;
  /** True where a listener forwards paths as they are sent; the others refuse what is ambiguous. Absent: false. */
  readonly keepsPaths?: boolean;
  /** Who may connect. Absent: everybody. */
  readonly connectionRules?: ConnectionRules;
  /** Proxies say for whom connections are made. Absent: connections are their clients' own. */
  readonly proxyProtocol?: ProxyProtocol;
  /** How the connections of a port with TLS are divided by server name. Absent: all of them end with `tls`. */
  readonly division?: PortDivision;
  /** Routes one request and responds to it. */
  readonly handle: Handler;
}

/** How the connections of a port are divided by server name (divide-tls.ts, which no other gateway carries). */
export interface PortDivision {
  readonly prepare: (
    context: PortContext,
    connectionRules: ConnectionRules | undefined,
  ) => PreparedDivision;
}

/** A port with what it does with requests, which can be asked without a connection too. */
export interface HttpPort extends Port {
  readonly handle: Handler;
}

/** A port that speaks HTTP/1.1 and HTTP/2. */
export function httpPort({
  port,
  address,
  config,
  tls,
  isForwardProxy = false,
  takesTunnels = false,
  keepsPaths = false,
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
    prepare: (context) => {
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
