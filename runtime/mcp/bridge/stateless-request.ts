import { createHash, randomUUID } from "node:crypto";
import { isObjectAt, objectMembers, ownText } from "../../json/json-text.ts";
import { metaFields, metaKey } from "../protocol/envelope.ts";
import { type Message, textAt, withId } from "../protocol/message.ts";
import { edited, paramOf, replaced, stringParamOf } from "../protocol/message-edit.ts";
import { readFields } from "../protocol/message-fields.ts";
import { INPUT_METHODS } from "../protocol/methods.ts";

/** The capabilities and info that a client without sessions declares with every request, as JSON text. */
export interface ClientDeclaration {
  /** An object. */
  readonly capabilities: string;
  /** An object. */
  readonly clientInfo: string;
}

/** Reads what a client declares; missing parts get the minimum that a session can be opened with. */
export function clientDeclaration(request: Message): ClientDeclaration {
  return {
    capabilities: metaObject(request, metaKey.clientCapabilities) ?? "{}",
    clientInfo: metaObject(request, metaKey.clientInfo) ?? '{"name":"gwc","version":"1"}',
  };
}

/** Maximum number of characters of a client's declaration, which a session holds as long as it is open. */
export const MAX_DECLARATION = 65_536;

/** Whether the client supports a server's request with this method. */
export function isAnswerable({ capabilities }: ClientDeclaration, method: string): boolean {
  const [ability = ""] = method.split("/", 1);
  return INPUT_METHODS.has(method) && Object.hasOwn(JSON.parse(capabilities), ability);
}

/** Returns the minimum level of log messages that the request wants, as JSON text; `undefined` if it wants none. */
export function logLevelOf(request: Message): string | undefined {
  const fields = metaFields(request);
  const level = typeof fields === "string" ? undefined : fields.get(metaKey.logLevel);
  return level && textAt(request.text, level);
}

/** Returns the state of an earlier request that this request continues. */
export function requestStateOf(request: Message): string | undefined {
  return stringParamOf(request, "requestState");
}

/** Returns the client's responses to input requests, by their names, as JSON text; values that are not objects are omitted. */
export function inputResponsesOf(request: Message): ReadonlyMap<string, string> {
  const { text } = request;
  const at = paramOf(request, "inputResponses");
  if (at === undefined || !isObjectAt(text, at.start)) return new Map();
  const fields = readFields(text, at.start, new Set());
  if (typeof fields === "string") return new Map();
  const objects = [...fields.values()].filter(({ start }) => isObjectAt(text, start));
  return new Map(objects.map((each) => [each.key, textAt(text, each)]));
}

/** Computes a digest of the request itself, without its input responses; other requests have other digests. */
export function requestDigest(request: Message): string {
  const parts = ["name", "uri", "arguments"].map((name) => {
    const at = paramOf(request, name);
    return at === undefined ? "" : textAt(request.text, at);
  });
  return createHash("sha256")
    .update(JSON.stringify([request.method, ...parts]))
    .digest("base64url");
}

/** Converts the request to revisions with sessions, under a new id of the gateway. */
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
