import { hostTable } from "../http/routing/host-table.ts";
import type { ConnectionHandler } from "../tcp/connection.ts";
import { preparePassthrough } from "../tcp/shared-port.ts";
import { connectionHandlers } from "./connection-handlers.ts";
import type { PortPassthrough } from "./http-port.ts";

/** What is passed on of a port where other TLS ends. */
export interface PassthroughSettings {
  /** The hostnames whose TLS is passed on: names, `*.example.com`, `*`. The most specific one that fits a server name decides. */
  readonly hostnames: readonly string[];
  /** Those whose TLS ends here, as it does for every name that fits none of both. */
  readonly endedHere: readonly string[];
  /** Milliseconds in which a client has to say whom it wants. */
  readonly handshakeTimeout: number;
  /** Fields that the access log leaves out; absent: none. */
  readonly withoutFields?: readonly string[];
  readonly handle: ConnectionHandler;
}

/** Lets the TLS of some hostnames go on to the backends that answer for them; nobody here can read it. */
export function tlsPassthrough({
  hostnames,
  endedHere,
  handshakeTimeout,
  ...settings
}: PassthroughSettings): PortPassthrough {
  const isPassedOn = hostTable([
    ...hostnames.map((hostname) => [hostname, true] as const),
    ...endedHere.map((hostname) => [hostname, false] as const),
  ]);
  return {
    prepare: (context, connectionRules) =>
      preparePassthrough({
        ...connectionHandlers({ ...settings, connectionRules }, context),
        isPassedOn,
        handshakeTimeout,
        broken: context.broken,
      }),
  };
}
