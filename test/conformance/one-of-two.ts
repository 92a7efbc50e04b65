import { createServer, request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { createInterface } from "node:readline";
import { listen } from "../harness/listen.ts";

/**
 * The conformance suite knows its server's items by their names; on a route with several targets they have prefixes. This
 * puts `one_` and `one+` before what clients name, and takes them off in what they are shown; all else passes as it is. The
 * URL of an MCP endpoint at `path` of the gateway at this port.
 */
export async function asOneOfTwo(port: number, path: string): Promise<string> {
  const server = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const { body, separator } = withPrefix(Buffer.concat(chunks).toString());
    const headers = headersWithPrefix(incoming.headers, separator);
    if (body !== "") headers["content-length"] = String(Buffer.byteLength(body));
    const options = { host: "127.0.0.1", port, path, method: incoming.method, headers };
    const upstream = httpRequest({ ...options, agent: false }, (response) => {
      const { "content-length": _length, ...shown } = response.headers;
      outgoing.writeHead(response.statusCode ?? 502, shown);
      outgoing.flushHeaders();
      const isStream = shown["content-type"]?.startsWith("text/event-stream") === true;
      const lines = createInterface({ input: response, crlfDelay: Number.POSITIVE_INFINITY });
      // It repeats the error of what it reads.
      lines.on("error", () => {});
      lines.on("line", (line) => outgoing.write(withoutPrefix(line) + (isStream ? "\n" : "")));
      response.on("error", () => outgoing.destroy());
      lines.on("close", () => outgoing.end());
    });
    upstream.on("error", () => outgoing.destroy());
    outgoing.on("close", () => upstream.destroy());
    upstream.end(body);
  });
  return `http://localhost:${await listen(server)}/mcp`;
}

type Separator = "_" | "+" | undefined;

function withPrefix(text: string): { readonly body: string; readonly separator: Separator } {
  const message = parsed(text);
  const { params, method } = message ?? {};
  if (params === undefined || params === null) return { body: text, separator: undefined };
  const named = method === "completion/complete" ? params.ref : params;
  if (typeof named?.name === "string" && /^(tools\/call|prompts\/get|completion)/.test(method)) {
    named.name = `one_${named.name}`;
    return { body: JSON.stringify(message), separator: "_" };
  }
  if (typeof named?.uri === "string" && /^(resources|completion)\//.test(method)) {
    named.uri = `one+${named.uri}`;
    return { body: JSON.stringify(message), separator: "+" };
  }
  const { notifications } = params;
  if (method === "subscriptions/listen" && Array.isArray(notifications?.resourceSubscriptions)) {
    notifications.resourceSubscriptions = notifications.resourceSubscriptions.map(
      (uri: unknown) => `one+${uri}`,
    );
    return { body: JSON.stringify(message), separator: undefined };
  }
  return { body: text, separator: undefined };
}

function headersWithPrefix(headers: IncomingHttpHeaders, separator: Separator) {
  const { connection: _connection, ...passed } = headers;
  const name = passed["mcp-name"];
  if (typeof name !== "string" || separator === undefined) return passed;
  const encoded = /^=\?base64\?(.*)\?=$/.exec(name)?.[1];
  const whole = encoded === undefined ? name : Buffer.from(encoded, "base64").toString();
  const prefixed = `one${separator}${whole}`;
  const shown =
    encoded === undefined ? prefixed : `=?base64?${Buffer.from(prefixed).toString("base64")}?=`;
  return { ...passed, "mcp-name": shown };
}

function withoutPrefix(text: string): string {
  return text.replaceAll('"name":"one_', '"name":"').replaceAll('"one+', '"');
}

/** The gateway refuses bodies that are not JSON. */
function parsed(text: string) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
