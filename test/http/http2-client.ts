import { createHash } from "node:crypto";
import { type ClientHttp2Session, connect } from "node:http2";
import { onTestFinished } from "vitest";
import { startGateway } from "../harness/gateway.ts";
import { startUpstream } from "../harness/upstream.ts";

/** A listener whose only backend is this one. */
export const route = (host: string) => ({ routes: [{ backends: [{ host }] }] });

/** An upstream that tells what it got, behind a gateway. */
export async function startEcho(file: object = {}) {
  const reached: string[] = [];
  const upstream = await startUpstream((request, response) => {
    const names = request.rawHeaders.filter((_name, index) => index % 2 === 0);
    reached.push(`${request.method} ${request.url} ${names}`);
    const hash = createHash("sha256");
    request.on("data", (chunk) => hash.update(chunk));
    request.on("end", () => {
      const { rawHeaders } = request;
      const body = JSON.stringify({ rawHeaders, digest: hash.digest("hex") });
      response.writeHead(200, ["X-Two", "1", "X-Two", "2", "Connection", "keep-alive"]);
      response.end(body);
    });
  });
  const gateway = await startGateway({ listeners: [route(upstream)], file });
  return { gateway, reached, port: gateway.port };
}

/** A session that is gone at the end of the test. */
export function open(authority: string, options: object = {}): ClientHttp2Session {
  const session = connect(authority, options);
  session.on("error", () => {});
  onTestFinished(() => session.destroy());
  return session;
}

/** A response, read to its end. */
export interface Response {
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
  readonly error: string | undefined;
}

/** Sends a request, and reads its response to the end. */
export function ask(
  session: ClientHttp2Session,
  headers: Readonly<Record<string, string | string[]>>,
  body?: Uint8Array,
): Promise<Response> {
  return new Promise((resolve) => {
    const stream = session.request(headers, { endStream: body === undefined });
    let head: Readonly<Record<string, unknown>> = {};
    let text = "";
    let error: string | undefined;
    stream.on("response", (received) => {
      head = received;
    });
    stream.on("data", (chunk) => {
      text += chunk;
    });
    stream.on("error", (problem) => {
      error = problem.message;
    });
    stream.on("close", () => resolve({ headers: head, body: text, error }));
    if (body !== undefined) stream.end(body);
  });
}
