import { type ClientRequest, type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { headerPair } from "./header-pair.ts";

/** A request to a port of the gateway on this machine. */
export interface PortCall {
  /** `http://127.0.0.1:3000`, or `https://` and a name of the listener. */
  readonly origin: string;
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  /** `name: value` */
  readonly headers: readonly string[];
  readonly body: string;
}

/** The response. */
export interface PortResult {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  /** Its first `MAX_BYTES`, as text. */
  readonly body: string;
  /** There was more of it, or it did not end in time. */
  readonly isCut: boolean;
  /** The port that the request came from: its line in the journal has it. */
  readonly clientPort: number | undefined;
}

/** Maximum number of bytes of a response that are shown. */
export const MAX_BYTES = 256 * 1024;
/** Milliseconds after which a response is shown as far as it came. */
export const LONGEST = 15_000;

/** Sends a request and reads the response. Rejects with what went wrong on the way, and for headers that can't be sent. */
export function callPort(call: PortCall): Promise<PortResult> {
  return new Promise((resolve, reject) => {
    const sent = openCall(call);
    const deadline = setTimeout(() => sent.destroy(new Error("no response in 15 s")), LONGEST);
    sent.on("response", (response) => {
      const clientPort = response.socket.localPort;
      const { statusCode: status = 0, headers: received } = response;
      const chunks: Buffer[] = [];
      let size = 0;
      const settle = (isCut: boolean) => {
        clearTimeout(deadline);
        const text = Buffer.concat(chunks).subarray(0, MAX_BYTES).toString("utf8");
        resolve({ status, headers: received, body: text, isCut, clientPort });
      };
      response.on("data", (chunk: Buffer) => {
        chunks.push(chunk);
        size += chunk.length;
        if (size > MAX_BYTES) response.destroy();
      });
      response.on("end", () => settle(false));
      response.on("close", () => settle(true));
    });
    sent.on("error", (error) => {
      clearTimeout(deadline);
      reject(error);
    });
    sent.end(call.body);
  });
}

/** Opens a request, without its body. Throws for headers that can't be sent. */
export function openCall({ origin, method, target, headers, body }: PortCall): ClientRequest {
  const { protocol, hostname, port } = new URL(origin);
  const pairs = headers.map(headerPair);
  const host = pairs.find(([name]) => name === "host")?.[1];
  const options = {
    // A name stands for this machine here, whatever it resolves to elsewhere.
    host: "127.0.0.1",
    port,
    method,
    path: target,
    agent: false,
    headers: Object.fromEntries([
      ...pairs,
      ["host", host ?? `${hostname}:${port}`],
      ...(body === "" ? [] : [["content-length", String(Buffer.byteLength(body))]]),
    ]),
    // The certificate is the gateway's own, on this machine.
    ...(protocol === "https:" && { servername: hostname, rejectUnauthorized: false }),
  };
  return protocol === "https:" ? requestHttps(options) : requestHttp(options);
}
