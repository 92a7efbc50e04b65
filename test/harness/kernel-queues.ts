import { readFileSync } from "node:fs";
import type { Socket } from "node:net";

/**
 * Bytes that the other end of a local IPv4 connection has read of what was written here: what was handed to the kernel,
 * less what still waits in its queues.
 */
export function bytesTaken(socket: Socket | undefined): number {
  const { bytesWritten, writableLength, localPort, remotePort } = present(socket);
  return bytesWritten - writableLength - bytesBetween(localPort, remotePort);
}

/** Bytes that the other end has handed to the kernel and that were not read here. */
export function bytesUnread(socket: Socket | undefined): number {
  const { localPort, remotePort } = present(socket);
  return bytesBetween(remotePort, localPort);
}

/**
 * Returns the bytes that a process between two local connections has taken from one and not passed on to the other.
 * Bytes flow from `writer` to `reader`. Exact only while nothing moves, because the queues are not read at the same
 * moment.
 */
export function bytesHeld(writer: Socket | undefined, reader: Socket | undefined): number {
  return bytesTaken(writer) - bytesUnread(reader) - present(reader).bytesRead;
}

/** A connection of a server is there when a client has one. */
function present(socket: Socket | undefined): Socket {
  if (socket === undefined) throw new Error("no connection");
  return socket;
}

/** Returns the bytes that the kernel holds between two ports, in both of its queues (Linux, proc(5) net/tcp). */
function bytesBetween(from: number | undefined, to: number | undefined): number {
  const [sender, receiver] = [hexPort(from), hexPort(to)];
  let bytes = 0;
  // A server that listens on every address has its connections in the second table.
  const tables = ["/proc/net/tcp", "/proc/net/tcp6"].map((path) => readFileSync(path, "utf8"));
  for (const line of tables.join("\n").split("\n")) {
    const [, local, remote, , lengths = ""] = line.trim().split(/\s+/);
    const [sending = 0, receiving = 0] = lengths.split(":").map((hex) => Number.parseInt(hex, 16));
    if (local?.endsWith(sender) && remote?.endsWith(receiver)) bytes += sending;
    if (local?.endsWith(receiver) && remote?.endsWith(sender)) bytes += receiving;
  }
  return bytes;
}

function hexPort(port = 0): string {
  return `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
}
