import type { ProxyProtocolSettings } from "../../runtime/net/proxy-protocol/proxy-protocol.ts";
import type { Origin } from "../diagnostics/diagnostic.ts";

/** A port, whatever is spoken there. */
export interface PortNode {
  readonly port: number;
  /** The IP address that it is open on; undefined: every one of the machine. */
  readonly address: string | undefined;
  /** Proxies say for whom connections are made; undefined: connections are their clients' own. */
  readonly proxyProtocol: ProxyProtocolSettings | undefined;
  readonly origin: Origin;
}
