import type { JsonObject } from "../../cel/variables.ts";
import type { Exchange, RoleText } from "../../http/exchange.ts";
import { EditedList, editHeader } from "../../http/headers/header-edits.ts";
import type { HeaderList } from "../../http/headers/header-list.ts";
import { isJsonObject } from "../../json/json-object.ts";
import { fieldValue } from "../../policies/transformations/field-value.ts";
import type { HeaderValue } from "../../policies/transformations/message-changes.ts";
import { targetValue } from "../../policies/transformations/target-value.ts";
import { callServer } from "./call-server.ts";
import type { GuardRun } from "./guard-run.ts";
import type { GuardStep } from "./prompt-guard.ts";
import type { GuardVerdict, ServerGuardSettings } from "./server-guard.ts";
import { ServerGuardStep } from "./server-step.ts";

/** A webhook that checks texts. */
export interface WebhookSettings extends ServerGuardSettings {
  /** Headers of the client's request that are forwarded to it. */
  readonly forwardHeaders: readonly HeaderMatch[];
  /** Configured headers; `:path` sets the path. Absent if there are no such headers. */
  readonly headers?: (asked: WebhookCall) => readonly HeaderValue[];
}

/** Variables of expressions for headers. */
export interface WebhookCall {
  readonly request: Exchange;
  /** Body of the client's request to a model; empty if there is none. */
  readonly llmRequest: JsonObject;
}

/** A header with a matching value. */
export interface HeaderMatch {
  /** In lower case. */
  readonly name: string;
  readonly matches: (value: string) => boolean;
}

/** Calls a webhook: `POST /request` with messages, `POST /response` with choices. It passes, masks or rejects. */
export function webhookGuard({ forwardHeaders, headers, ...settings }: WebhookSettings): GuardStep {
  return new ServerGuardStep({
    kind: "webhook",
    ...settings,
    check: async (input) => {
      const {
        texts,
        run: { phase, exchange, call },
      } = input;
      const form = FORMS[phase];
      const sent = forwarded(exchange?.requestHeaders ?? [], forwardHeaders);
      const made = (exchange && headers?.(calledWith(exchange, call))) ?? [];
      const request = { ...place(`/${phase}`, sent, made), body: { body: form.write(texts) } };
      const { action } = await callServer(settings, request, input);
      if (!isJsonObject(action)) throw new Error("no action");
      return verdictOf(action, form);
    },
  });
}

function calledWith(request: Exchange, call: GuardRun["call"]): WebhookCall {
  return {
    request,
    get llmRequest() {
      return call?.body ?? {};
    },
  };
}

/** Form of texts in a phase. */
interface WebhookForm {
  write(texts: readonly RoleText[]): JsonObject;
  /** Returns `undefined` for another form. */
  read(body: JsonObject): readonly string[] | undefined;
}

const FORMS: Readonly<Record<"request" | "response", WebhookForm>> = {
  request: {
    write: (texts) => ({ messages: texts.map(message) }),
    read: ({ messages }) => contents(messages, (each) => each),
  },
  response: {
    write: (texts) => ({ choices: texts.map((each) => ({ message: message(each) })) }),
    read: ({ choices }) => contents(choices, (each) => each.message),
  },
};

function message({ role, text: content }: RoleText) {
  return { role, content };
}

function contents(
  list: unknown,
  messageOf: (item: JsonObject) => unknown,
): readonly string[] | undefined {
  if (!Array.isArray(list)) return undefined;
  const texts = list.flatMap((item) => {
    const found = isJsonObject(item) ? messageOf(item) : undefined;
    return isJsonObject(found) && typeof found.content === "string" ? [found.content] : [];
  });
  return texts.length === list.length ? texts : undefined;
}

/** Actions differ by their shape. */
function verdictOf({ body, status_code: status }: JsonObject, form: WebhookForm): GuardVerdict {
  if (isJsonObject(body)) {
    const texts = form.read(body);
    if (texts === undefined) throw new Error("a mask of another form");
    return { kind: "mask", texts };
  }
  if (typeof body === "string" || status !== undefined) {
    const isStatus = Number.isInteger(status) && Number(status) >= 400 && Number(status) <= 599;
    return {
      kind: "reject",
      ...(isStatus && { status: Number(status) }),
      ...(typeof body === "string" && body !== "" && { message: body }),
    };
  }
  if (body !== undefined && body !== null) throw new Error("an action of another form");
  return { kind: "pass" };
}

/** Returns the path and headers of the call; configured headers replace forwarded ones. */
function place(
  path: string,
  forwardedHeaders: readonly string[],
  made: readonly HeaderValue[],
): { readonly path: string; readonly headers: readonly string[] } {
  const own = made.find(([name]) => name === ":path");
  const headers = new EditedList(forwardedHeaders, true);
  for (const [name, value] of made) {
    if (name !== ":path") editHeader(headers, name, fieldValue(value), "overwrite");
  }
  return { path: (own && targetValue(own[1])) ?? path, headers: headers.list };
}

function forwarded(headers: HeaderList, wanted: readonly HeaderMatch[]): string[] {
  const found: string[] = [];
  for (let i = 0; i < headers.length; i += 2) {
    const name = (headers[i] ?? "").toLowerCase();
    const value = headers[i + 1] ?? "";
    if (wanted.some((each) => each.name === name && each.matches(value))) found.push(name, value);
  }
  return found;
}
