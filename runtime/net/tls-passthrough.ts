import type { Socket } from "node:net";
import type { GatewayContext } from "../process/gateway-context.ts";

/** Takes the connections of a port of HTTPS whose TLS is for somebody else. */
export interface TlsPassthrough {
  /** Keeps a connection, or calls `endHere` with all that has come still in the socket. */
  receive(socket: Socket, endHere: () => void): void;
  /** Closes what does not say in `FIRST_REQUEST_TIME` for whom it is, and the rest once it is silent, until the function is called that it gives. */
  close(): () => void;
  /** Breaks every connection off. */
  destroy(): void;
}

/** What is to be done with such connections, with all that is needed at hand. */
export interface PreparedPassthrough {
  /** `before` did it so far; its connections are kept. */
  open(gateway: GatewayContext, before: TlsPassthrough | undefined): TlsPassthrough;
}
