import { objectMembers } from "../../json/json-text.ts";
import { type Message, textAt } from "./message.ts";

/**
 * Returns the error of a response, by OpenTelemetry's conventions for MCP: the code of an error (`-32602`), or `tool_error`
 * if the called tool reports a failure. `undefined` if the call succeeded.
 */
export function responseError(message: Message): string | undefined {
  const { text, result } = message;
  if (result === undefined) return String(errorCodeOf(message) ?? "rpc_error");
  if (!text.includes('"isError"')) return undefined;
  const member = objectMembers(text, result.start).find(({ key }) => key === "isError");
  return member !== undefined && textAt(text, member) === "true" ? "tool_error" : undefined;
}

/** Returns the code of an error response; `undefined` if the response is not an error or has no integer code. */
export function errorCodeOf({ text, result }: Message): number | undefined {
  if (result !== undefined) return undefined;
  const { error }: { readonly error?: { readonly code?: unknown } | null } = JSON.parse(text);
  return Number.isInteger(error?.code) ? Number(error?.code) : undefined;
}
