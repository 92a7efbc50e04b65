import { toJson } from "../../cel/functions/json.ts";
import type {
  BackendVariable,
  LogResponseVariables,
  McpPrimitive,
  McpVariables,
} from "../../cel/variables.ts";
import type { Exchange, ExchangeRecord } from "../../http/exchange.ts";
import { headerMap, headerValue } from "../../http/headers/header-list.ts";
import type { FieldWriter } from "../field-writer.ts";

/** The response as it was sent. */
export class FinalResponse implements LogResponseVariables {
  /** `undefined` if the client disconnected before the response. */
  readonly status: number | undefined;
  readonly #headers: readonly string[];
  readonly #trailers: readonly string[];

  constructor({ responseHeaders, responseTrailers }: Exchange, status: number | undefined) {
    this.status = status;
    this.#headers = responseHeaders;
    this.#trailers = responseTrailers;
  }

  get grpcStatus(): number | undefined {
    const status =
      headerValue(this.#trailers, "grpc-status") ?? headerValue(this.#headers, "grpc-status");
    return status !== undefined && /^\d{1,3}$/.test(status) ? Number(status) : undefined;
  }

  get endTime(): number {
    return Date.now();
  }

  header(name: string): string | undefined {
    return headerValue(this.#headers, name);
  }

  headerMap(): ReadonlyMap<string, string> {
    return headerMap(this.#headers);
  }
}

/** Returns the MCP message of a request, from the recorded fields; null if it had none. */
export function mcpMessage(exchange: Exchange): McpVariables | null {
  const { record } = exchange;
  const methodName = record.fields?.get("mcp.method.name");
  if (methodName === undefined) return null;
  const tool = calledItem(record, "gen_ai.tool.name");
  const prompt = calledItem(record, "gen_ai.prompt.name");
  const resource = calledItem(record, "mcp.resource.uri");
  return {
    methodName,
    sessionId: sessionOf(exchange),
    ...(tool && { tool }),
    ...(prompt && { prompt }),
    ...(resource && { resource }),
  };
}

/** Returns the session that the request names, or that its response opens. */
function sessionOf(exchange: Exchange): string | undefined {
  return (
    exchange.header("mcp-session-id") ?? headerValue(exchange.responseHeaders, "mcp-session-id")
  );
}

/** Returns an item; its target is empty if no server offers it. */
function calledItem({ fields }: ExchangeRecord, field: string): McpPrimitive | undefined {
  const name = fields?.get(field);
  return name === undefined ? undefined : { name, target: fields?.get("mcp.target") ?? "" };
}

/** Returns the backend of a request; null if the request was answered without one. */
export function calledBackend({ record, refusalFormat }: Exchange): BackendVariable {
  const { upstream, fields } = record;
  if (refusalFormat.protocol === "mcp") {
    const name = upstream ?? fields?.get("mcp.target");
    return name === undefined ? null : { name, type: "mcp", protocol: "mcp" };
  }
  if (upstream !== undefined && refusalFormat.protocol === "llm") {
    return { name: upstream, type: "ai", protocol: "llm" };
  }
  return upstream === undefined ? null : { name: upstream, type: "static", protocol: "http" };
}

/**
 * Writes the value of an expression: strings unchanged, other values as JSON. `undefined`, a failed expression, is omitted.
 */
export function logValue(line: FieldWriter, name: string, value: unknown): void {
  if (typeof value === "string") {
    line.text(name, value);
    return;
  }
  const json = toJson(value);
  if (json === undefined) return;
  // Times and bytes are JSON strings.
  if (json.startsWith('"')) line.text(name, JSON.parse(json));
  else line.json(name, json);
}
