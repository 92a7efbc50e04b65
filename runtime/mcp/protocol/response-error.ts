import { objectMembers } from "../../json/json-text.ts";
import { type Message, textAt } from "./message.ts";

/**
 * What a response says of a failure, by OpenTelemetry's conventions for MCP. `rpc_error`: the request failed; `tool_error`:
 * the tool that it called says so. Undefined: all went well.
 */
export function responseError({ text, result }: Message): "rpc_error" | "tool_error" | undefined {
  if (result === undefined) return "rpc_error";
  if (!text.includes('"isError"')) return undefined;
  const member = objectMembers(text, result.start).find(({ key }) => key === "isError");
  return member !== undefined && textAt(text, member) === "true" ? "tool_error" : undefined;
}

/** The code of a response that is an error; undefined: it is none, or says no number. */
export function errorCodeOf({ text, result }: Message): number | undefined {
  if (result !== undefined) return undefined;
  const { error }: { readonly error?: { readonly code?: unknown } | null } = JSON.parse(text);
  return Number.isInteger(error?.code) ? Number(error?.code) : undefined;
}
