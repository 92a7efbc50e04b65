import { hostTable } from "../net/host-table.ts";
import type { ConnectionHandler } from "../tcp/connection.ts";
import {
  type InterceptedHandshakes,
  type NameHandling,
  prepareDivision,
} from "../tcp/divided-port.ts";
import { Certificates } from "../tls/certificates.ts";
import { isOfIdentity } from "../tls/handshake.ts";
import type { NamedEndSettings } from "../tls/named-end.ts";
import type { TlsSettings } from "../tls/tls-settings.ts";
import { connectionHandlers } from "./connection-handlers.ts";
import type { PortDivision } from "./http-port.ts";

/**
 * How the connections of a port are divided by server name. Hostnames are names, `*.example.com` or `*`; the most specific
 * match decides.
 */
export interface DivisionSettings {
  /** Hostnames that use the TLS settings of the port, as names without a match do. */
  readonly endedHere: readonly string[];
  /** Hostnames whose TLS is forwarded to a backend as received; none if absent. */
  readonly passedOn?: readonly string[];
  /** Hostnames with TLS settings of their own; none if absent. */
  readonly ends?: readonly DividedEnd[];
  /** Takes the handshakes of an ACME server; absent if there are none. */
  readonly intercepted?: InterceptedHandshakes;
  /** Maximum milliseconds from the connection to its complete ClientHello. */
  readonly handshakeTimeout: number;
  /** Fields that the access log omits; none if absent. */
  readonly withoutFields?: readonly string[];
  /** Routes forwarded connections; absent if the port forwards none. */
  readonly handle?: ConnectionHandler;
}

/** TLS settings of some hostnames, and the content of their connections. */
export interface DividedEnd extends Pick<NamedEndSettings, "carries"> {
  readonly hostnames: readonly string[];
  readonly tls: TlsSettings;
}

/** Divides the connections of a port by server name. Throws an Error that says which file is unusable. */
export function divideTls({
  endedHere,
  passedOn = [],
  ends = [],
  intercepted,
  handshakeTimeout,
  withoutFields,
  handle,
}: DivisionSettings): PortDivision {
  const handlings = hostTable<NameHandling>([
    ...endedHere.map((hostname) => [hostname, "here"] as const),
    ...passedOn.map((hostname) => [hostname, "passedOn"] as const),
    ...ends.flatMap(({ hostnames }, index) =>
      hostnames.map((hostname) => [hostname, index] as const),
    ),
  ]);
  const handshakes = ends.map(({ hostnames, carries, tls }) =>
    [carries, tls.clients?.mode ?? "", isOfIdentity(tls), ...hostnames].join(" "),
  );
  return {
    prepare: (context, connectionRules) => {
      const { broken, failedHandshake, warn } = context;
      return prepareDivision(handshakes.join(), {
        handlings,
        ends: ends.map(({ carries, tls }) => ({ carries, certificates: new Certificates(tls) })),
        intercepted,
        handshakeTimeout,
        connections:
          handle && connectionHandlers({ handle, connectionRules, withoutFields }, context),
        failedHandshake: (handshake) => {
          broken?.(`the connection of ${handshake.remoteAddress} is aborted: ${handshake.code}`);
          failedHandshake(handshake);
        },
        warn,
        broken,
      });
    },
  };
}
