import { isJsonObject } from "../../../runtime/json/json-object.ts";
import { valueOfJson } from "../../schema/value-of-json.ts";
import type { PlaygroundRequest } from "./playground.ts";

/** Parses the request of the page; `undefined` if it is not a request of the playground. */
export function readRequest(text: string): PlaygroundRequest | undefined {
  const given = record(valueOfJson(text));
  const headers = given?.headers;
  const { route, method, target, body } = given ?? {};
  if (typeof route !== "string" || typeof method !== "string") return undefined;
  if (typeof target !== "string" || typeof body !== "string") return undefined;
  if (!Array.isArray(headers) || !headers.every((each) => typeof each === "string"))
    return undefined;
  const { identity = "" } = given ?? {};
  if (typeof identity !== "string") return undefined;
  const message = record(given?.mcp);
  const request = { route, method, target, headers, body, identity };
  if (message === undefined) return request;
  if (typeof message.method !== "string") return undefined;
  const { method: called, params, era: said } = message;
  const era = said === "stateless" ? said : "sessions";
  return { ...request, mcp: { method: called, params, era } };
}

function record(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return isJsonObject(value) ? value : undefined;
}
