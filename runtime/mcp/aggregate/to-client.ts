import {
  type Edit,
  elementsOf,
  isArrayAt,
  isObjectAt,
  stringAt,
  type TextRange,
} from "../../json/json-text.ts";
import { type Message, textAt } from "../protocol/message.ts";
import { edited, paramOf, replaced } from "../protocol/message-edit.ts";
import { readFields } from "../protocol/message-fields.ts";
import { aggregateId } from "./aggregate-ids.ts";
import { withAppUris } from "./app-uris.ts";

/** The parameters for rewriting a target's message for a client of a merged route. */
export interface AggregateTarget {
  readonly index: number;
  readonly name: string;
  /** Returns the URI that the client uses for a resource of this target. */
  readonly clientUri: (uri: string) => string;
}

/** Rewrites a server's request or notification for a client of a merged route. */
export function forClient(message: Message, target: AggregateTarget): Message {
  if (message.kind === "request") return edited(message, requestEdits(message, target));
  switch (message.method) {
    case "notifications/cancelled": {
      const id = paramOf(message, "requestId");
      return id === undefined ? message : edited(message, [idEdit(message, id, target)]);
    }
    case "notifications/resources/updated":
      return edited(message, uriEdits(message.text, paramOf(message, "uri"), target));
    default:
      return message;
  }
}

/** Rewrites the URIs in a server's response to those that the client uses, so that it can read these resources. */
export function responseForClient(response: Message, target: AggregateTarget): Message {
  const { text, result } = response;
  if (result === undefined || !/uri/i.test(text)) return response;
  const fields = fieldsAt(text, result);
  const edits: Edit[] = [];
  const meta = fields?.get("_meta");
  if (meta !== undefined) edits.push(replaced(meta, withAppUris(textAt(text, meta), target.name)));
  // resources/read
  for (const contents of elements(text, fields?.get("contents"))) {
    edits.push(...uriEdits(text, fieldsAt(text, contents)?.get("uri"), target));
  }
  // tools/call
  for (const block of elements(text, fields?.get("content"))) {
    edits.push(...blockEdits(text, block, target));
  }
  // prompts/get
  for (const message of elements(text, fields?.get("messages"))) {
    edits.push(...blockEdits(text, fieldsAt(text, message)?.get("content"), target));
  }
  return edited(response, edits);
}

function requestEdits(message: Message, target: AggregateTarget): Edit[] {
  const edits = [idEdit(message, message.idAt, target)];
  const meta = paramOf(message, "_meta");
  const token = fieldsAt(message.text, meta)?.get("progressToken");
  if (token !== undefined) edits.push(idEdit(message, token, target));
  return edits;
}

function idEdit(message: Message, at: TextRange, target: AggregateTarget): Edit {
  return replaced(at, aggregateId(target.index, textAt(message.text, at)));
}

/** Rewrites a content block: a link to a resource, or an embedded resource. */
function blockEdits(text: string, block: TextRange | undefined, target: AggregateTarget): Edit[] {
  const fields = fieldsAt(text, block);
  switch (stringAt(text, fields?.get("type"))) {
    case "resource_link":
      return uriEdits(text, fields?.get("uri"), target);
    case "resource":
      return uriEdits(text, fieldsAt(text, fields?.get("resource"))?.get("uri"), target);
    default:
      return [];
  }
}

function uriEdits(text: string, at: TextRange | undefined, target: AggregateTarget): Edit[] {
  const uri = stringAt(text, at);
  if (at === undefined || uri === undefined) return [];
  return [replaced(at, JSON.stringify(target.clientUri(uri)))];
}

function fieldsAt(text: string, at: TextRange | undefined) {
  if (at === undefined || !isObjectAt(text, at.start)) return undefined;
  const fields = readFields(text, at.start, new Set());
  return typeof fields === "string" ? undefined : fields;
}

function elements(text: string, at: TextRange | undefined): TextRange[] {
  return at !== undefined && isArrayAt(text, at.start) ? elementsOf(text, at.start) : [];
}
