import { applyEdits } from "../../json/json-text.ts";
import type { StreamRelay } from "../calls/target.ts";
import type { ResponseFacts } from "../chat/formats.ts";
import type { LlmError } from "../chat/llm-error.ts";
import { bufferOf, type StreamStep } from "../chat/stream-step.ts";
import { parseObject } from "../formats/parse-object.ts";
import type { Provider } from "../providers/provider.ts";
import { type FileNames, fileIdsIn } from "./file-ids.ts";
import { type IdOwner, sealId } from "./stored-ids.ts";

/** Files that programs of a provider's model write for a caller. */
export interface FileWriter {
  readonly owner: IdOwner;
  readonly names: FileNames;
  readonly provider: Provider;
}

/** Returns a JSON text in which the files that programs have written have ids for their owner. */
export function withWrittenFiles(
  text: string,
  { owner, names, provider: { name, upstream } }: FileWriter,
): string {
  const edits = fileIdsIn(text, names)
    .filter(({ isWritten }) => isWritten)
    .map(({ start, end, id }) => {
      const place = { provider: name, authority: upstream.authority, id };
      return { start, end, text: JSON.stringify(sealId(owner, names.kind, place)) };
    });
  return applyEdits(text, edits);
}

/** Gives ids of their owner to the files of a stream. */
export class WrittenFilesStream implements StreamRelay {
  readonly #stream: StreamRelay;
  readonly #writer: FileWriter;

  constructor(stream: StreamRelay, writer: FileWriter) {
    this.#stream = stream;
    this.#writer = writer;
  }

  get facts(): ResponseFacts {
    return this.#stream.facts;
  }

  get warning(): string | undefined {
    return this.#stream.warning;
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
    if (!bufferOf(piece).includes("file_id")) return piece;
    const text = bufferOf(piece).toString("utf8");
    return text.replace(DATA, (line, field: string, data: string) =>
      parseObject(data) === undefined ? line : field + withWrittenFiles(data, this.#writer),
    );
  }
}

/** Data of an event in one line. */
const DATA = /^(data: ?)(\{[^\r\n]*\})/gm;
