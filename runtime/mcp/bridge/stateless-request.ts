import { createHash, randomUUID } from "node:crypto";
import { isObjectAt, objectMembers, ownText } from "../../json/json-text.ts";
import { metaFields, metaKey } from "../protocol/envelope.ts";
import { type Message, textAt, withId } from "../protocol/message.ts";
import { edited, paramOf, replaced, stringParamOf } from "../protocol/message-edit.ts";
import { readFields } from "../protocol/message-fields.ts";
import { INPUT_METHODS } from "../protocol/methods.ts";

/** What a client without sessions says of itself with every request, as JSON text. */
export interface SaidByClient {
  /** An object. */
  readonly capabilities: string;
  /** An object. */
  readonly clientInfo: string;
}

/** Reads it; what is missing is the least that a session can be opened with. */
export function saidByClient(request: Message): SaidByClient {
  return {
    capabilities: metaObject(request, metaKey.clientCapabilities) ?? "{}",
    clientInfo: metaObject(request, metaKey.clientInfo) ?? '{"name":"gwc","version":"1"}',
  };
}

/** The most characters that a client may say of itself: a session keeps them as long as it is open. */
export const MAX_SAID = 65_536;

/** Whether such a client can answer what a server asks by this method. */
export function isAnswerable({ capabilities }: SaidByClient, method: string): boolean {
  const [ability = ""] = method.split("/", 1);
  return INPUT_METHODS.has(method) && Object.hasOwn(JSON.parse(capabilities), ability);
}

/** From which level on the request wants log messages, as JSON text; undefined: it wants none. */
export function logLevelOf(request: Message): string | undefined {
  const fields = metaFields(request);
  const level = typeof fields === "string" ? undefined : fields.get(metaKey.logLevel);
  return level && textAt(request.text, level);
}

/** The state that a request brings back from an earlier one, by which it goes on with that one. */
export function requestStateOf(request: Message): string | undefined {
  return stringParamOf(request, "requestState");
}

/** The client's responses by the names of what it was asked, as JSON text: those that are objects. */
export function inputResponsesOf(request: Message): ReadonlyMap<string, string> {
  const { text } = request;
  const at = paramOf(request, "inputResponses");
  if (at === undefined || !isObjectAt(text, at.start)) return new Map();
  const fields = readFields(text, at.start, new Set());
  if (typeof fields === "string") return new Map();
  const objects = [...fields.values()].filter(({ start }) => isObjectAt(text, start));
  return new Map(objects.map((each) => [each.key, textAt(text, each)]));
}

/** What a request asks for, whatever it adds of responses; equal for no other request. */
export function requestDigest(request: Message): string {
  const parts = ["name", "uri", "arguments"].map((name) => {
    const at = paramOf(request, name);
    return at === undefined ? "" : textAt(request.text, at);
  });
  return createHash("sha256")
    .update(JSON.stringify([request.method, ...parts]))
    .digest("base64url");
}

/** The request as revisions with sessions have it, under an id of the gateway's own. */
export function sessionRequest(request: Message): Message {
  const { text, params } = request;
  const own = withId(request, JSON.stringify(randomUUID()));
  if (params === undefined) return own;
  const kept = objectMembers(text, params.start).flatMap(({ key, keyStart, start, end }) => {
    if (key === "inputResponses" || key === "requestState") return [];
    if (key !== "_meta" || !isObjectAt(text, start)) return [text.slice(keyStart, end)];
    const meta = objectMembers(text, start)
      .filter((each) => !each.key.startsWith("io.modelcontextprotocol/"))
      .map((each) => text.slice(each.keyStart, each.end));
    return meta.length === 0 ? [] : [`"_meta":{${meta.join(",")}}`];
  });
  return own.params === undefined
    ? own
    : edited(own, [replaced(own.params, `{${kept.join(",")}}`)]);
}

function metaObject(request: Message, name: string): string | undefined {
  const fields = metaFields(request);
  const at = typeof fields === "string" ? undefined : fields.get(name);
  return at !== undefined && isObjectAt(request.text, at.start)
    ? ownText(textAt(request.text, at))
    : undefined;
}
