import type { Socket } from "node:net";
import { ForbiddenDestination } from "../net/connector.ts";
import { type Connection, refuseConnection } from "./connection.ts";
import { reset } from "./reset.ts";
import type { TcpUpstream } from "./upstream.ts";

/**
 * Connects to a server and forwards bytes in both directions, each as fast as its reader takes them. The end of one direction
 * is forwarded and leaves the other open (RFC 9293 3.6); an abort of one side aborts the other.
 */
export function pass(connection: Connection, upstream: TcpUpstream): void {
  const { record, socket: client } = connection;
  record.upstream = upstream.name;
  upstream.connect((error, server) => {
    if (server === null) {
      const isForbidden = error instanceof ForbiddenDestination;
      const reason = isForbidden ? "ForbiddenDestination" : "UpstreamFailure";
      refuseConnection(connection, reason, error?.message ?? "no connection");
    } else if (client.destroyed) {
      server.destroy();
    } else {
      join(connection, server);
    }
  });
}

function join({ record, socket: client, first }: Connection, server: Socket): void {
  for (const bytes of first) {
    record.received += bytes.length;
    server.write(bytes);
  }
  client.on("data", (bytes: Buffer) => {
    record.received += bytes.length;
    if (!server.write(bytes)) client.pause();
  });
  server.on("data", (bytes: Buffer) => {
    record.sent += bytes.length;
    if (!client.write(bytes)) server.pause();
  });
  client.on("drain", () => server.resume());
  server.on("drain", () => client.resume());
  client.on("end", () => server.end());
  server.on("end", () => client.end());
  // The connector has a listener of its own until the connection is open.
  server.on("error", (error) => {
    record.reason ??= "UpstreamFailure";
    record.error ??= error.message;
    reset(client);
  });
  client.on("error", (error) => {
    record.reason ??= "ClientClosed";
    record.error ??= error.message;
    reset(server);
  });
  // A policy may have read all that the client sent.
  if (client.readableEnded) server.end();
  client.on("close", () => finish(server));
  server.on("close", () => finish(client));
  client.resume();
}

/** Milliseconds that a peer has to receive the remaining bytes when the other end is gone. */
const LINGER_TIME = 10_000;

function finish(socket: Socket): void {
  if (socket.destroyed) return;
  socket.destroySoon();
  const timer = setTimeout(() => socket.destroy(), LINGER_TIME);
  socket.once("close", () => clearTimeout(timer));
}
