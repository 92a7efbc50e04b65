import { type HeaderList, headerValue } from "../../../http/headers/header-list.ts";
import {
  isContextLength,
  kindOfStatus,
  type LlmError,
  type LlmErrorKind,
  providerWord,
} from "../../chat/llm-error.ts";
import { parseObject } from "../parse-object.ts";

/** Reads an error of Bedrock: the body has a message, a header the name of the exception. */
export function readConverseError(status: number, body: string, headers: HeaderList): LlmError {
  const fields = parseObject(body);
  // `ValidationException:http://internal.amazon.com/...`
  const [name = ""] = (headerValue(headers, "x-amzn-errortype") ?? "").split(":");
  const text = fields?.message ?? fields?.Message;
  const message = typeof text === "string" && text !== "" ? text : name || `status ${status}`;
  const kind = kindOfException(name, status, message);
  // Bedrock's message contains the gateway's account and role.
  if (kind === "permission") return { kind, message: "access to the model is denied", status };
  return { kind, message, status, code: providerWord(name) };
}

/** Returns the kind of an exception (AWS, Converse: Errors); by status if its name is unknown. */
export function kindOfException(name: string, status: number, message: string): LlmErrorKind {
  switch (name.replace(/Exception$/, "").toLowerCase()) {
    case "validation":
      return isContextLength(message) ? "context-length" : "invalid";
    case "unrecognizedclient":
    case "invalidsignature":
    case "expiredtoken":
    case "incompletesignature":
      return "authentication";
    case "accessdenied":
      return "permission";
    case "resourcenotfound":
      return "not-found";
    case "throttling":
    case "modelnotready":
      return "rate-limit";
    case "servicequotaexceeded":
      return "quota";
    case "serviceunavailable":
      return "overloaded";
    case "modeltimeout":
      return "timeout";
    case "modelerror":
    case "modelstreamerror":
    case "internalserver":
      return "server";
    default:
      return isContextLength(message) ? "context-length" : kindOfStatus(status);
  }
}
