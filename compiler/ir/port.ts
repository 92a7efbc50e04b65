import type { ConnectionSettings } from "../../runtime/net/connection-settings.ts";
import type { ProxyProtocolSettings } from "../../runtime/net/proxy-protocol/proxy-protocol.ts";
import type { Origin } from "../diagnostics/diagnostic.ts";

/** A port, with any protocol. */
export interface PortNode {
  readonly port: number;
  /** IP address of the port; `undefined` for all addresses of the machine. */
  readonly address: string | undefined;
  /** PROXY protocol settings; `undefined` if it is not used. */
  readonly proxyProtocol: ProxyProtocolSettings | undefined;
  /** Settings of its connections; absent for those of the gateway, which also limit their number. */
  readonly connections?: ConnectionSettings;
  readonly origin: Origin;
}
