import type { Exchange } from "../../http/exchange.ts";
import { logFields } from "../../http/exchange.ts";
import { respondLateRefusal } from "../calls/respond-failed-call.ts";
import { LlmRefusal } from "../chat/llm-error.ts";
import { restOfPath } from "../path-rest.ts";
import type { StoreService } from "./object-store.ts";

/** Path below that of an API. */
export interface StoredPath {
  /** Id of an object; `undefined` for the API itself. */
  readonly id: string | undefined;
  /** Word after it: `content`, `cancel`; `undefined` if there is none. */
  readonly action: string | undefined;
  /** Further parts. */
  readonly more: readonly string[];
}

/** Serves a path below an API; a refusal is answered in the client's format. */
export async function serveBelow(
  exchange: Exchange,
  { format }: StoreService,
  api: string,
  serve: (path: StoredPath) => Promise<void>,
): Promise<void> {
  const rest = restOfPath(exchange.path, api) ?? "";
  const [, id, action, ...more] = rest.split("/");
  logFields(exchange.record).set("gen_ai.operation.name", api.slice(1));
  try {
    if (!/^(?:\/[\w-]+)*$/.test(rest)) throw nothingThere();
    await serve({ id, action, more });
  } catch (error) {
    respondLateRefusal(exchange, error, format);
  }
}

/** Returns the refusal of a path that an API does not have. */
export function nothingThere(): LlmRefusal {
  return notFound("there is nothing at this path");
}

/** Returns the refusal of a list: a provider would list the objects of all callers. */
export function refuseLists(what: string): LlmRefusal {
  return notFound(`the gateway does not list ${what}: keep their ids`);
}

/** Returns the refusal of a method that a path does not have. */
export function noMethod(): LlmRefusal {
  const message = "this path does not have this method";
  return new LlmRefusal({ kind: "invalid", message, status: 405 });
}

function notFound(message: string): LlmRefusal {
  return new LlmRefusal({ kind: "not-found", message, isOfPath: true });
}
