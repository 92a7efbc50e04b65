import { isJsonObject } from "./request-object.ts";

/** Where a format has text that a model reads, or a user sees. */
export interface TextFormat {
  /** Members of a request with texts in them, at any depth. */
  readonly request: readonly string[];
  /** Those of a whole response. */
  readonly response: readonly string[];
  /** Guards the texts of one stream. */
  openStream(texts: TextGuards): StreamTexts;
}

/** What becomes of texts. */
export interface TextGuards {
  /** A whole text. */
  replace(text: string): string;
  /** A text that comes in pieces. */
  open(): PieceGuard;
  /** The JSON of a tool's arguments that comes in pieces. */
  openJson(): PieceGuard;
}

/** One text that comes in pieces; it may keep back an end of what came. */
export interface PieceGuard {
  push(piece: string): string;
  /** What was kept back: the text is complete. */
  end(): string;
}

/** The events of one stream of a format. */
export interface StreamTexts {
  /** What the client gets for an event. */
  see(event: Buffer): readonly (string | Buffer)[];
  /** What it gets of texts that were kept back when the stream breaks off. */
  end(): readonly string[];
}

/** The value with its texts replaced; the value itself when no text changes. */
export function mapTexts(value: unknown, texts: TextGuards): unknown {
  const whole = (text: string): string => {
    const guard = texts.openJson();
    return guard.push(text) + guard.end();
  };
  const visit = (
    each: unknown,
    key: string,
    parent: Readonly<Record<string, unknown>>,
  ): unknown => {
    if (typeof each === "string") {
      if (key === "arguments") return whole(each);
      return isText(key, parent) ? texts.replace(each) : each;
    }
    // The tokens would say what is masked.
    if (key === "logprobs" && each !== null) return Array.isArray(each) ? [] : null;
    if (Array.isArray(each)) return mapList(each, (item) => visit(item, key, parent));
    if (!isJsonObject(each)) return each;
    if (isToolInput(key, parent)) {
      const text = JSON.stringify(each);
      const changed = whole(text);
      return changed === text ? each : parsed(changed);
    }
    return mapObject(each, (member, name) => visit(member, name, each));
  };
  return visit(value, "", {});
}

/** What a pattern that matches brackets made of JSON is a text. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function mapList(list: readonly unknown[], change: (item: unknown) => unknown): unknown {
  const changed = list.map(change);
  return changed.some((each, index) => each !== list[index]) ? changed : list;
}

function mapObject(
  object: Readonly<Record<string, unknown>>,
  change: (value: unknown, key: string) => unknown,
): Readonly<Record<string, unknown>> {
  let changed: Record<string, unknown> | undefined;
  for (const [key, value] of Object.entries(object)) {
    const next = change(value, key);
    if (next === value) continue;
    changed ??= { ...object };
    changed[key] = next;
  }
  return changed ?? object;
}

/** Every string is a text that a model may read but those by which programs find their way, and what is no text. */
function isText(key: string, parent: Readonly<Record<string, unknown>>): boolean {
  if (key === "data") return parent.type === "text";
  if (key === "result") return parent.type !== "image_generation_call";
  return !noTexts.has(key) && !key.startsWith("encrypted_") && !key.endsWith("_id");
}

/** What a model wants a tool to do, as an object of any shape. */
function isToolInput(key: string, { type }: Readonly<Record<string, unknown>>): boolean {
  return key === "input" && typeof type === "string" && type.endsWith("tool_use");
}

/** Words of formats, names of tools, addresses, and bytes as text. */
const noTexts: ReadonlySet<string> = new Set([
  ...["type", "role", "object", "status", "phase", "id", "name", "model", "tool_name"],
  ...["server_name", "server_label", "$ref", "$schema", "$id", "pattern", "required", "format"],
  ...["url", "image_url", "file_url", "file_data", "media_type", "mime_type", "detail", "ttl"],
  ...["signature", "partial_image_b64", "b64_json", "finish_reason", "stop_reason", "scope"],
  ...["effort", "quality", "size", "background", "action_type", "server_url", "authorization"],
]);
