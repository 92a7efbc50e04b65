import type { JsonObject } from "../../../cel/variables.ts";
import { isJsonObject } from "../../../json/json-object.ts";
import type { ToolCallBlock, ToolResultBlock } from "../../chat/content.ts";
import type { CodeBlock, FetchBlock, HostedBlock } from "../../chat/hosted-tools.ts";
import { providerText } from "../parse-object.ts";
import { randomId } from "../random-id.ts";
import type { GoogleObject } from "./google-object.ts";

/** Joins programs that Google ran to their outputs, which are parts of their own. */
export class RanPrograms {
  #code: string | undefined;

  /** Reads a part; `undefined` if it is another one, and none for a program whose output follows. */
  read({
    executableCode: program,
    codeExecutionResult: result,
  }: JsonObject): readonly CodeBlock[] | undefined {
    if (isJsonObject(program)) {
      const before = this.rest();
      this.#code = providerText(program.code) ?? "";
      return before;
    }
    if (!isJsonObject(result)) return undefined;
    const code = this.#code ?? "";
    this.#code = undefined;
    const isError = result.outcome !== "OUTCOME_OK";
    return [programOf(code, providerText(result.output) ?? "", isError)];
  }

  /** Returns the program whose output has not arrived. */
  rest(): readonly CodeBlock[] {
    const code = this.#code;
    this.#code = undefined;
    return code === undefined ? [] : [programOf(code, "", false)];
  }
}

function programOf(code: string, output: string, isError: boolean): CodeBlock {
  return { kind: "hosted", tool: "code", id: randomId(), code, output, isError };
}

/** Reads the pages that Google fetched for a candidate. */
export function readFetched({ urlContextMetadata: fetched }: JsonObject): readonly FetchBlock[] {
  const list = isJsonObject(fetched) ? fetched.urlMetadata : undefined;
  const pages = Array.isArray(list) ? list.filter(isJsonObject) : [];
  return pages.map(({ retrievedUrl, urlRetrievalStatus: status }) => {
    const isError = status !== "URL_RETRIEVAL_STATUS_SUCCESS";
    const url = providerText(retrievedUrl) ?? "";
    return { kind: "hosted", tool: "fetch", id: randomId(), url, isError };
  });
}

/** Writes a program that another provider ran; nothing for other tools. */
export function programParts(block: HostedBlock): readonly JsonObject[] {
  if (block.tool !== "code") return [];
  const outcome = block.isError ? "OUTCOME_FAILED" : "OUTCOME_OK";
  return [
    { executableCode: { language: "PYTHON", code: block.code } },
    { codeExecutionResult: { outcome, output: block.output } },
  ];
}

/** Returns the member of a candidate that names fetched pages; nothing if there are none. */
export function fetchedPages(blocks: readonly HostedBlock[]): JsonObject {
  const fetched = blocks.filter((block) => block.tool === "fetch");
  if (fetched.length === 0) return {};
  const urlMetadata = fetched.map(({ url, isError }) => {
    const status = isError ? "URL_RETRIEVAL_STATUS_ERROR" : "URL_RETRIEVAL_STATUS_SUCCESS";
    return { retrievedUrl: url, urlRetrievalStatus: status };
  });
  return { urlContextMetadata: { urlMetadata } };
}

/**
 * Reads a program of a conversation, or its output, as the call of a function or its result; `undefined` for another part.
 * `id`: of the call.
 */
export function replayedProgram(
  part: GoogleObject,
  id: string,
): ToolCallBlock | ToolResultBlock | undefined {
  const program = part.object("executableCode");
  if (program !== undefined) {
    const input = JSON.stringify({ code: program.text("code") });
    return { kind: "tool-call", id, name: "code_execution", input };
  }
  const result = part.object("codeExecutionResult");
  if (result === undefined) return undefined;
  const text = result.optionalText("output") ?? "";
  const isError = (result.optionalText("outcome") ?? "OUTCOME_OK") !== "OUTCOME_OK";
  return { kind: "tool-result", id, content: [{ kind: "text", text }], isError };
}
