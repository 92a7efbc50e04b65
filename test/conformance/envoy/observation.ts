import { once } from "node:events";
import { Agent, type IncomingMessage, request as startRequest } from "node:http";
import { text } from "node:stream/consumers";
import type { EnvoyServices, SeenMessage } from "../../harness/envoy-services.ts";
import { eventually } from "../../harness/eventually.ts";
import type { OracleRequest } from "./oracle-request.ts";

/** Header values by lower-case name. */
type Headers = Readonly<Record<string, readonly string[]>>;

/** A proxy's result for a request. */
export interface Observation {
  readonly client: { readonly status: number; readonly headers: Headers; readonly body: string };
  /** The requests that reached the upstream. */
  readonly upstream: readonly UpstreamRequest[];
  /** The messages that the services got about it. */
  readonly asked: readonly unknown[];
}

/** A request as the upstream got it. */
export interface UpstreamRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  readonly body: string;
  readonly trailers: Headers;
}

/** The header that tells requests apart. */
export const caseHeader = "x-case";

/** Sends the requests one after the other; what became of each. */
export async function observe(
  url: (setup: string) => string,
  requests: readonly OracleRequest[],
  services: EnvoyServices,
  upstream: readonly UpstreamRequest[],
): Promise<readonly Observation[]> {
  const responses = [];
  for (const each of requests) responses.push({ id: caseOf(each), client: await sent(url, each) });
  const messages = await settled(services);
  return responses.map(({ id, client }) => ({
    client,
    upstream: upstream.filter(({ headers }) => headers[caseHeader]?.[0] === id),
    asked: messagesOf(messages, id),
  }));
}

/** The values of each header, names in lower case. */
export function headersOf(rawHeaders: readonly string[]): Headers {
  const headers: Record<string, string[]> = {};
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = (rawHeaders[i] ?? "").toLowerCase();
    headers[name] = [...(headers[name] ?? []), rawHeaders[i + 1] ?? ""];
  }
  return headers;
}

/** Header that identifies a request. */
function caseOf({ setup, name }: OracleRequest): string {
  return `${setup}: ${name}`;
}

const agent = new Agent({ keepAlive: false });

async function sent(
  url: (setup: string) => string,
  request: OracleRequest,
): Promise<Observation["client"]> {
  const { setup, method = "GET", path = "", headers = {}, body, trailers } = request;
  const own = { host: "shop.test", [caseHeader]: caseOf(request), ...headers };
  const list = Object.entries(own).flatMap(([name, value]) =>
    [value].flat().flatMap((each) => [name, each]),
  );
  if (trailers !== undefined) list.push("transfer-encoding", "chunked");
  else if (body !== undefined) list.push("content-length", String(Buffer.byteLength(body)));
  const target = `/${setup}${path}`;
  const call = startRequest(new URL(url(setup)), { method, path: target, headers: list, agent });
  if (trailers !== undefined) call.addTrailers(trailers);
  call.end(body);
  // An aborted response is a kind of its own.
  const broken = { status: 0, headers: {}, body: "" };
  const [response] = await once(call, "response").catch((): [undefined] => [undefined]);
  return response === undefined ? broken : read(response).catch(() => broken);
}

async function read(response: IncomingMessage): Promise<Observation["client"]> {
  const { statusCode: status = 0, rawHeaders } = response;
  return { status, headers: headersOf(rawHeaders), body: await text(response) };
}

/** All messages, when no more come. */
async function settled(services: EnvoyServices): Promise<readonly SeenMessage[]> {
  let before = -1;
  return eventually(async () => {
    const messages = services.seen();
    const isQuiet = messages.length === before;
    before = messages.length;
    await new Promise((resolve) => setTimeout(resolve, 1000));
    return isQuiet ? messages : null;
  }, "the last message");
}

/** The messages of the calls about a request. */
function messagesOf(messages: readonly SeenMessage[], value: string): readonly unknown[] {
  const ids = new Set(messages.filter((each) => isAbout(each, value)).map(({ id }) => id));
  return messages.filter(({ id }) => ids.has(id)).map(({ message }) => readable(message));
}

/** The heads in a processor's messages by name, as the order of fields of different names says nothing. */
function readable(message: SeenMessage["message"]): unknown {
  const heads = ["request_headers", "response_headers"].flatMap((phase) => {
    const { headers, ...rest } = message[phase] ?? {};
    return headers === undefined ? [] : [[phase, { ...rest, ...headMap(headers.headers) }]];
  });
  return { ...message, ...Object.fromEntries(heads) };
}

interface HeaderField {
  readonly key: string;
  readonly value?: string;
  readonly raw_value?: string;
}

function headMap(fields: readonly HeaderField[]): object {
  const bytes = ({ raw_value: raw = "" }: HeaderField) => Buffer.from(raw, "base64").toString();
  const asText = fields.flatMap(({ key, value }) => (value === undefined ? [] : [[key, value]]));
  return {
    headers: headersOf(fields.flatMap((field) => [field.key, bytes(field)])),
    values: Object.fromEntries(asText),
  };
}

function isAbout({ call, message }: SeenMessage, value: string): boolean {
  switch (call) {
    case "Check":
      return message.attributes.request.http.headers[caseHeader] === value;
    case "ShouldRateLimit":
      return message.descriptors
        .flatMap(({ entries }: { entries: object[] }) => entries)
        .some(
          (entry: { key: string; value: string }) => entry.key === "case" && entry.value === value,
        );
    case "Process": {
      const fields = message.request_headers?.headers?.headers ?? [];
      const found = fields.find(({ key }: { key: string }) => key === caseHeader);
      return Buffer.from(found?.raw_value ?? "", "base64").toString() === value;
    }
  }
}
