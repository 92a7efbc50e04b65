import type { Socket } from "node:net";
import { createSecureContext, createServer, type SecureContext, type Server } from "node:tls";
import { ignoreError } from "../net/socket-reads.ts";
import type { GatewayContext } from "../process/gateway-context.ts";
import { SECOND } from "../process/units.ts";
import type { InterceptedHandshakes } from "../tcp/divided-port.ts";
import { AcmeRecords } from "./acme-records.ts";

/** Protocol of the handshakes (RFC 8737 6.2). */
const PROTOCOL = "acme-tls/1";
/** Maximum milliseconds of a handshake. */
const HANDSHAKE_TIME = 10 * SECOND;

/**
 * Answers the ACME server's handshakes for the names of this gateway, at any thread or replica. They offer one protocol that
 * nothing else speaks, and carry no data (RFC 8737 3).
 */
export const challengeHandshakes: InterceptedHandshakes = {
  takes: (protocols) => protocols.length === 1 && protocols[0] === PROTOCOL,
  open: (gateway) => {
    const server = challengeServer(gateway);
    return (socket: Socket) => void server.emit("connection", socket);
  },
};

function challengeServer(gateway: GatewayContext): Server {
  const server = createServer({
    ALPNProtocols: [PROTOCOL],
    handshakeTimeout: HANDSHAKE_TIME,
    SNICallback: (name, done: (error: Error | null, context?: SecureContext) => void) => {
      contextFor(name, gateway).then(
        (context) => done(context === undefined ? new Error("no challenge") : null, context),
        (error) => done(error instanceof Error ? error : new Error(String(error))),
      );
    },
  });
  server.on("secureConnection", (socket) => {
    socket.on("error", ignoreError);
    socket.end();
  });
  server.on("tlsClientError", (_error, socket) => socket.destroy());
  return server;
}

async function contextFor(
  name: string,
  gateway: GatewayContext,
): Promise<SecureContext | undefined> {
  const found = await AcmeRecords.of(gateway)?.challengeResponse(
    handshakeChallengeId(name.toLowerCase()),
  );
  if (typeof found?.cert !== "string" || typeof found.key !== "string") return undefined;
  return createSecureContext({ cert: found.cert, key: found.key });
}

/** Returns the id of the response for a name. */
export function handshakeChallengeId(name: string): string {
  return `tls-alpn-01 ${name}`;
}
