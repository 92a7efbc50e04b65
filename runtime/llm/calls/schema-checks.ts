import type { CountedBuffer } from "../../http/body/counted-buffer.ts";
import type { SchemaCheck } from "../chat/fitted-schema.ts";
import type { ChatResponse, StopReason } from "../chat/response.ts";
import type { StreamEvent } from "../chat/stream-event.ts";

/** Checks of a response whose schemas the provider does not enforce completely. */
export interface SchemaChecks {
  /** Absent if the output has no schema, or one that is enforced. */
  readonly ofOutput?: SchemaCheck;
  /** Returns the check of the inputs of a tool; `undefined` if its schema is enforced. */
  ofTool(name: string): SchemaCheck | undefined;
}

/** Returns the first place where a whole response breaks a schema; `undefined` if there is none, or if it is incomplete. */
export function responseWarning(
  { blocks, stop }: ChatResponse,
  { ofOutput, ofTool }: SchemaChecks,
): string | undefined {
  for (const block of blocks) {
    if (block.kind !== "tool-call" || !isComplete(stop)) continue;
    const check = ofTool(block.name);
    const problem = check && problemOf(inputOf(block.name), block.input, check);
    if (problem !== undefined) return problem;
  }
  if (ofOutput === undefined || stop !== "end") return undefined;
  const texts = blocks.flatMap((block) => (block.kind === "text" ? [block.text] : []));
  return problemOf(OUTPUT, texts.join(""), ofOutput);
}

/** Collects what a stream says of schemas, to check it at its end. */
export class StreamedChecks {
  readonly #checks: SchemaChecks;
  readonly #newBuffer: () => CountedBuffer;
  readonly #calls = new Map<number, CheckedCall>();
  readonly #output: CountedBuffer | undefined;
  /** Whether the process had no room for a part. */
  #isCut = false;
  #stop: StopReason | undefined;

  constructor(checks: SchemaChecks, newBuffer: () => CountedBuffer) {
    this.#checks = checks;
    this.#newBuffer = newBuffer;
    this.#output = checks.ofOutput && newBuffer();
  }

  /** Takes an event, with the client's names of tools. */
  note(event: StreamEvent): void {
    switch (event.kind) {
      case "text":
        this.#collect(this.#output, event.text);
        break;
      case "tool-call": {
        const check = this.#checks.ofTool(event.name);
        if (check === undefined) break;
        this.#calls.set(event.index, { name: event.name, check, input: this.#newBuffer() });
        break;
      }
      case "tool-input":
        this.#collect(this.#calls.get(event.index)?.input, event.text);
        break;
      case "stop":
        this.#stop = event.reason;
    }
  }

  /** Returns the first place where the stream breaks a schema; `undefined` if there is none, or if it is incomplete. */
  warning(): string | undefined {
    const stop = this.#stop;
    if (stop === undefined || !isComplete(stop)) return undefined;
    if (this.#isCut) return "the response was not checked against its schema: no buffer space";
    for (const { name, check, input } of this.#calls.values()) {
      const problem = problemOf(inputOf(name), textOf(input) || "{}", check);
      if (problem !== undefined) return problem;
    }
    const { ofOutput } = this.#checks;
    if (ofOutput === undefined || stop !== "end") return undefined;
    return problemOf(OUTPUT, textOf(this.#output), ofOutput);
  }

  #collect(buffer: CountedBuffer | undefined, text: string): void {
    if (buffer?.push(Buffer.from(text)) === false) this.#isCut = true;
  }
}

/** A call of a tool whose schema is not enforced. */
interface CheckedCall {
  readonly name: string;
  readonly check: SchemaCheck;
  readonly input: CountedBuffer;
}

/** Whether calls of tools have all of their inputs. */
function isComplete(stop: StopReason): boolean {
  return stop === "end" || stop === "tool-calls";
}

function textOf(buffer: CountedBuffer | undefined): string {
  return buffer?.bytes().toString("utf8") ?? "";
}

const OUTPUT = "the output";

/** Names the input of a call in problems. */
function inputOf(tool: string): string {
  return `the input of tool "${tool}"`;
}

function problemOf(what: string, text: string, check: SchemaCheck): string | undefined {
  const value = parsed(text);
  if (value === NO_JSON) return `${what} is not JSON`;
  const problem = check(value);
  return problem && `${what} breaks its schema: ${problem}`;
}

const NO_JSON = Symbol("no JSON");

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return NO_JSON;
  }
}
