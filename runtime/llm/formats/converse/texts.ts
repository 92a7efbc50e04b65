import type { JsonObject } from "../../../cel/variables.ts";
import { isJsonObject } from "../../../json/json-object.ts";
import {
  mapTexts,
  type PieceGuard,
  type StreamTexts,
  type TextFormat,
  type TextGuards,
} from "../../chat/texts.ts";
import { CarriedTexts } from "../carried-texts.ts";
import { type Events, PartedEvents } from "../parted-events.ts";
import { BARE_COMMENT, readEvent } from "../read-event.ts";
import { converseEvent } from "./stream-framing.ts";

/** Texts of Bedrock's Converse. */
export const converseTexts: TextFormat = {
  request: [
    ...["messages", "system", "inferenceConfig", "toolConfig", "outputConfig"],
    ...["promptVariables", "additionalModelRequestFields"],
  ],
  plain: new Set([
    // The path names them.
    ...["model", "stream"],
    ...["guardrailConfig", "requestMetadata", "performanceConfig", "serviceTier"],
    "additionalModelResponseFieldPaths",
  ]),
  response: ["output", "additionalModelResponseFields", "trace"],
  plainResponse: new Set([
    ...["stopReason", "usage", "metrics", "performanceConfig", "serviceTier"],
  ]),
  openStream: (texts) => new ConverseTexts(texts),
};

/** Kinds of texts that the next delta of a block continues. */
type PieceKind = "text" | "reasoning" | "input";

/** A text that the next delta of its block continues. */
interface Piece {
  readonly kind: PieceKind;
  readonly text: string;
  /** Creates a delta with another text. */
  readonly delta: (text: string) => JsonObject;
}

/** A text of a block other than a completion. */
interface OpenText {
  readonly guard: PieceGuard;
  readonly delta: Piece["delta"];
}

/** Guards a stream. All blocks of text are one text: what follows a block waits while a match may continue in the next one. */
class ConverseTexts implements StreamTexts {
  readonly #texts: TextGuards;
  /** Guard for consecutive text blocks. */
  readonly #blocks: PartedEvents;
  /** Text block that is not complete. */
  #current: { readonly index: unknown } | undefined;
  /** Texts of other blocks, by block. */
  readonly #open = new Map<unknown, OpenText>();

  constructor(texts: TextGuards) {
    this.#texts = texts;
    this.#blocks = new PartedEvents(texts);
  }

  see(given: Buffer): Events {
    const read = readEvent(given, given.toString("utf8"), this.#texts);
    if (read === undefined) return this.#behind([BARE_COMMENT]);
    const { bytes, object: event } = read;
    // Events that cannot be parsed cannot be guarded.
    if (event === undefined) return [];
    const { contentBlockStart: start, contentBlockDelta: delta, contentBlockStop: stop } = event;
    if (isJsonObject(delta) && isJsonObject(delta.delta)) {
      return this.#delta(bytes, event, delta, delta.delta);
    }
    const whole = (): Events => this.#behind([this.#whole(bytes, event)]);
    // Only calls have a start: the text before them does not continue soon.
    if (isJsonObject(start)) return [...this.#turnFrom(start.contentBlockIndex), ...whole()];
    if (isJsonObject(stop)) return [...this.#close(stop.contentBlockIndex), ...whole()];
    if (event.messageStop !== undefined) return [...this.#closeAll(), ...whole()];
    // It is the last event: no block follows.
    if (event.metadata !== undefined) return [...this.end(), this.#whole(bytes, event)];
    return whole();
  }

  end(): Events {
    return [...this.#closeAll(), ...this.#blocks.end(textEvent(this.#current?.index))];
  }

  #closeAll(): Events {
    const indexes = [...this.#open.keys(), ...(this.#current ? [this.#current.index] : [])];
    return indexes.flatMap((index) => this.#close(index));
  }

  /** Holds back events after a text that waits. */
  #behind(events: Events): Events {
    return events.length === 0 ? events : this.#blocks.behind(() => events);
  }

  /** Guards all texts of an event of any shape. */
  #whole(bytes: Buffer, event: JsonObject): string | Buffer {
    const kind = Object.keys(event).join();
    const mapped = mapTexts(event, new CarriedTexts(this.#texts, kind));
    return mapped === event ? bytes : `data: ${JSON.stringify(mapped)}\n\n`;
  }

  #delta(bytes: Buffer, event: JsonObject, around: JsonObject, delta: JsonObject): Events {
    const { contentBlockIndex: index } = around;
    const piece = pieceOf(delta);
    if (piece === undefined) return this.#behind([this.#whole(bytes, event)]);
    const { kind, text } = piece;
    if (kind === "text") {
      const before = this.#current?.index === index ? [] : this.#turnFrom(index);
      this.#current = { index };
      const { before: waited, text: decided } = this.#blocks.push(text);
      return [...before, ...waited, ...this.#given(bytes, index, piece, decided)];
    }
    const before = this.#turnFrom(index);
    const decided = this.#openText(index, piece).guard.push(text);
    return [...before, ...this.#behind(this.#given(bytes, index, piece, decided))];
  }

  /** Returns an event with the decided part of its text. Members that the API does not have are left out then. */
  #given(bytes: Buffer, index: unknown, { text, delta }: Piece, decided: string): Events {
    if (decided === text) return [bytes];
    return decided === "" ? [] : [deltaEvent(index, delta(decided))];
  }

  #openText(index: unknown, { kind, delta }: Piece): OpenText {
    const known = this.#open.get(index);
    if (known !== undefined) return known;
    const guard = kind === "input" ? this.#texts.openJson() : this.#texts.open();
    const open = { guard, delta };
    this.#open.set(index, open);
    return open;
  }

  /** Another block continues: what waits of the text before it is released, unless it is a text itself. */
  #turnFrom(index: unknown): Events {
    if (this.#current === undefined || this.#current.index === index) return [];
    return this.#close(this.#current.index);
  }

  #close(index: unknown): Events {
    if (this.#current?.index === index && this.#current !== undefined) {
      this.#current = undefined;
      return this.#blocks.next(textEvent(index));
    }
    const open = this.#open.get(index);
    if (open === undefined) return [];
    this.#open.delete(index);
    const rest = open.guard.end();
    return rest === "" ? [] : this.#behind([deltaEvent(index, open.delta(rest))]);
  }
}

/** Returns the text of a delta that has nothing else; `undefined` for another delta. */
function pieceOf(delta: JsonObject): Piece | undefined {
  const [key = "", ...others] = Object.keys(delta);
  if (others.length > 0) return undefined;
  const { text, reasoningContent: reasoning, toolUse: call } = delta;
  if (key === "text" && typeof text === "string") {
    return { kind: "text", text, delta: (given) => ({ text: given }) };
  }
  const inside = isJsonObject(reasoning) ? reasoning : isJsonObject(call) ? call : {};
  const [member = "", ...more] = Object.keys(inside);
  const value = inside[member];
  if (more.length > 0 || typeof value !== "string") return undefined;
  const piece = (kind: PieceKind): Piece => ({
    ...{ kind, text: value },
    delta: (given) => ({ [key]: { [member]: given } }),
  });
  if (key === "reasoningContent" && member === "text") return piece("reasoning");
  return key === "toolUse" && member === "input" ? piece("input") : undefined;
}

function textEvent(index: unknown): (text: string) => string {
  return (text) => deltaEvent(index, { text });
}

function deltaEvent(index: unknown, delta: JsonObject): string {
  return converseEvent("contentBlockDelta", { contentBlockIndex: index, delta });
}
