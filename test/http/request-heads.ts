import type { Socket } from "node:net";
import { eventually } from "../harness/eventually.ts";
import { FrameClient, frameType } from "../harness/frame-client.ts";
import { RawClient } from "../harness/raw-client.ts";

/** The head of a request, whatever protocol it is written in. Bytes are Latin-1. */
export interface RequestHead {
  readonly method: string;
  readonly path: string;
  /** Host, or `:authority`; `undefined` leaves it out. */
  readonly authority: string | undefined;
  readonly fields: readonly (readonly [name: string, value: string])[];
  /** Pseudo-header fields of HTTP/2 instead of these, or behind them. */
  readonly pseudo?: readonly (readonly [name: string, value: string])[];
}

/** A head with nothing wrong. */
export const plainHead: RequestHead = { method: "GET", path: "/", authority: "a.test", fields: [] };

/** A status; or how else the gateway ended the request. */
export type Outcome = number | "stream reset" | "connection ended";

/** Writes a head as HTTP/1.1 and reads the status of its response. */
export async function askHttp1(
  port: number,
  { method, path, authority, fields }: RequestHead,
  socket?: Socket,
): Promise<Outcome> {
  const client = new RawClient(port, { ...(socket && { socket }) });
  const lines = fields.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  const host = authority === undefined ? "" : `Host: ${authority}\r\n`;
  client.send(`${method} ${path} HTTP/1.1\r\n${host}${lines}Connection: close\r\n\r\n`);
  await client.closes();
  const status = /^HTTP\/1\.1 (\d{3}) /.exec(client.received)?.[1];
  return status === undefined ? "connection ended" : Number(status);
}

/** Writes the same head as HTTP/2. */
export async function askHttp2(
  port: number,
  { method, path, authority, fields, pseudo }: RequestHead,
  socket?: Socket,
): Promise<Outcome> {
  const client = new FrameClient(port, socket);
  const own = [
    [":method", method],
    [":scheme", "http"],
    [":path", path],
    ...(authority === undefined ? [] : [[":authority", authority] as const]),
  ] as const;
  const changed = new Set(pseudo?.map(([name]) => name));
  const kept = own.filter(([name]) => !changed.has(name));
  client.request(1, [...kept, ...(pseudo ?? []), ...fields]);
  const outcome = () => {
    const status = client.status(1);
    if (status !== undefined) return status;
    if (client.last(frameType.reset, 1) !== undefined) return "stream reset";
    return client.isClosed ? "connection ended" : null;
  };
  const found = await eventually(outcome, `an outcome of ${JSON.stringify({ method, path })}`);
  client.socket.destroy();
  return found;
}
