import { applyEdits } from "../../json/json-text.ts";
import type { ChatCall } from "../calls/chat-call.ts";
import type { LlmTarget, StreamRelay } from "../calls/target.ts";
import type { ResponseFacts } from "../chat/formats.ts";
import type { LlmError } from "../chat/llm-error.ts";
import { bufferOf, type StreamStep } from "../chat/stream-step.ts";
import { parseObject } from "../formats/parse-object.ts";
import type { Provider } from "../providers/provider.ts";
import { type IdNames, idsIn } from "./object-ids.ts";
import { type IdOwner, type StoredKind, sealId } from "./stored-ids.ts";

/** Caller who gets the ids of a provider's objects as its own. */
export interface IdReceiver {
  readonly owner: IdOwner;
  readonly names: IdNames;
  readonly provider: Provider;
}

/** Creates a target whose responses give ids. `receiverOf`: who gets those of a call; `undefined` if nobody does. */
export function givingIds(
  target: LlmTarget,
  receiverOf: (call: ChatCall) => IdReceiver | undefined,
): LlmTarget {
  return {
    ...target,
    changesResponse: (call) =>
      receiverOf(call) !== undefined || target.changesResponse?.(call) === true,
    readWhole: (received, call, model) => {
      const whole = target.readWhole(received, call, model);
      const receiver = receiverOf(call);
      if (receiver === undefined) return whole;
      return { ...whole, text: withGivenIds(whole.text ?? received.text, receiver) };
    },
    openStream: (call, model) => {
      const stream = target.openStream(call, model);
      const receiver = receiverOf(call);
      return receiver === undefined ? stream : new GivenIdsStream(stream, receiver);
    },
  };
}

/** Returns a JSON text in which stored objects have ids for their owner. `known`: JSON of the ids given so far. */
export function withGivenIds(
  text: string,
  receiver: IdReceiver,
  known = new Map<string, string>(),
): string {
  const edits = idsIn(text, receiver.names).map(({ start, end, id, kind }) => {
    const key = `${kind} ${id}`;
    const given = known.get(key) ?? JSON.stringify(givenId(id, kind, receiver));
    known.set(key, given);
    return { start, end, text: given };
  });
  return applyEdits(text, edits);
}

function givenId(
  id: string,
  kind: StoredKind,
  { owner, provider: { name, upstream } }: IdReceiver,
): string {
  return sealId(owner, kind, { provider: name, authority: upstream.authority, id });
}

/** Gives ids of their owner to the stored objects of a stream in the client's own format, which loses no fields. */
class GivenIdsStream implements StreamRelay {
  readonly #stream: StreamRelay;
  readonly #receiver: IdReceiver;
  /** Ids given so far: each event of an item has its id. */
  readonly #given = new Map<string, string>();

  constructor(stream: StreamRelay, receiver: IdReceiver) {
    this.#stream = stream;
    this.#receiver = receiver;
  }

  get facts(): ResponseFacts {
    return this.#stream.facts;
  }

  get sentError(): string | undefined {
    return this.#stream.sentError;
  }

  get pieces(): number {
    return this.#stream.pieces;
  }

  get ping(): string {
    return this.#stream.ping;
  }

  push(chunk: Buffer): StreamStep {
    return this.#changed(this.#stream.push(chunk));
  }

  close(): StreamStep {
    return this.#changed(this.#stream.close());
  }

  fail(error: LlmError): string {
    return this.#stream.fail(error);
  }

  /** Each piece has whole events. */
  #changed(step: StreamStep): StreamStep {
    return { ...step, output: step.output.map((piece) => this.#changedPiece(piece)) };
  }

  #changedPiece(piece: string | Uint8Array): string | Uint8Array {
    const { words } = this.#receiver.names;
    const bytes = bufferOf(piece);
    if (!words.some((word) => bytes.includes(word))) return piece;
    return bytes.toString("utf8").replace(DATA, (line, field: string, data: string) => {
      const isNamed = words.some((word) => data.includes(word));
      if (!isNamed || parseObject(data) === undefined) return line;
      return field + withGivenIds(data, this.#receiver, this.#given);
    });
  }
}

/** Data of an event in one line. */
const DATA = /^(data: ?)(\{[^\r\n]*\})/gm;
