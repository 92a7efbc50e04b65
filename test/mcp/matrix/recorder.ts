import { createServer, request as httpRequest } from "node:http";
import { listen } from "../../harness/listen.ts";

/** A client as it describes itself, read by the recorder. */
export interface Announced {
  /** Revision of the protocol that the client and the gateway agreed on. */
  readonly revision: string;
  readonly capabilities: Readonly<Record<string, unknown>>;
}

/** An address in front of a gateway, which reads what passes. */
export interface Recorder {
  readonly url: string;
  announced(): Announced;
}

/** The revision in the result of `initialize`; not every client repeats it in a header. */
const AGREED = /"protocolVersion"\s*:\s*"([\d-]+)"/;

/** Starts one for one client. */
export async function startRecorder(gateway: string): Promise<Recorder> {
  const bodies: string[] = [];
  const revisions: string[] = [];
  const server = createServer((incoming, response) => {
    const revision = incoming.headers["mcp-protocol-version"];
    if (typeof revision === "string") revisions.push(revision);
    const { method, headers } = incoming;
    const forwarded = httpRequest(gateway, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      response.flushHeaders();
      answer.pipe(response);
      answer.on("error", () => response.destroy());
      let text = "";
      answer.on("data", (chunk: Buffer) => {
        if (JSON.parse(body || "{}").method !== "initialize") return;
        text += chunk;
        revisions.push(...(AGREED.exec(text)?.slice(1) ?? []));
      });
    });
    let body = "";
    incoming.on("data", (chunk: Buffer) => {
      body += chunk;
    });
    incoming.on("end", () => {
      bodies.push(body);
    });
    incoming.pipe(forwarded);
    // Clients end streams, and the gateway does when the test ends.
    forwarded.on("error", () => response.destroy());
    response.on("close", () => forwarded.destroy());
  });
  const url = `http://127.0.0.1:${await listen(server)}${new URL(gateway).pathname}`;
  return {
    url,
    announced: () => {
      const messages = bodies.filter((body) => body !== "").map((body) => JSON.parse(body));
      const own = "io.modelcontextprotocol/clientCapabilities";
      const capabilities = messages.flatMap(({ method, params }) =>
        method === "initialize" ? [params.capabilities] : [params?._meta?.[own] ?? []].flat(),
      );
      return { revision: revisions.at(-1) ?? "none", capabilities: capabilities.at(-1) ?? {} };
    },
  };
}
