import type { Exchange } from "../../http/exchange.ts";
import { noteRefusal } from "../../http/refuse.ts";
import type { ErrorFormat } from "../chat/formats.ts";
import { errorStatus, type LlmError } from "../chat/llm-error.ts";

/** Responds with an error in the client's format. `headers` is a flat list. */
export function respondError(
  exchange: Exchange,
  error: LlmError,
  errors: ErrorFormat,
  headers: readonly string[] = [],
): void {
  const { own } = error;
  const type = own?.headers ?? ["content-type", "application/json"];
  const body = own?.body ?? errors.errorBody(error);
  exchange.respond(errorStatus(error, errors.statuses), [...headers, ...type], body);
}

/** Refuses methods that an API does not support; true if it did. */
export function refuseMethod(
  exchange: Exchange,
  errors: ErrorFormat,
  allowed: readonly string[] = ["POST"],
): boolean {
  if (allowed.includes(exchange.method)) return false;
  const message = methodRefusal(exchange, allowed);
  noteRefusal(exchange, "BadRequest", message);
  const error: LlmError = { kind: "invalid", message, status: 405 };
  respondError(exchange, error, errors, ["allow", allowed.join(", ")]);
  return true;
}

/** Explains the common case that a client requests the list of models first. */
function methodRefusal({ method, path }: Exchange, allowed: readonly string[]): string {
  const text = `this path takes ${allowed.join(", ")}, not ${method}`;
  const isList = method === "GET" && path.endsWith("/models");
  return isList ? `${text}: the gateway lists no models here` : text;
}
