import type { JsonObject } from "../../../cel/variables.ts";
import { isJsonObject } from "../../../json/json-object.ts";
import type { ChatResponse, RefusalBlock, ResponseBlock, StopReason } from "../../chat/response.ts";
import type { SearchBlock } from "../../chat/web-search.ts";
import { markSignature } from "../google-signature.ts";
import { isFilledText, providerText } from "../parse-object.ts";
import { randomId } from "../random-id.ts";
import { citing, readPages } from "../web-pages.ts";
import { RanPrograms, readFetched } from "./hosted-parts.ts";
import { readGenerateContentUsage } from "./usage.ts";

/** Reads a whole response of generateContent. Throws if it has no candidate, or a broken one. */
export function readGenerateContentResponse(body: JsonObject): ChatResponse {
  const candidate = firstCandidate(body);
  if (candidate === undefined && !isPromptBlocked(body)) throw new Error("no candidate");
  const programs = new RanPrograms();
  const parts = candidate === undefined ? [] : readParts(candidate, programs);
  const search = candidate && readGrounding(candidate);
  const fetched = candidate === undefined ? [] : readFetched(candidate);
  const said = [...fetched, ...[...parts, ...programs.rest()].reduce(joined, [])];
  const blocks =
    search === undefined ? said : [search, ...said.map((block) => cited(block, search))];
  const explained = explanationOf(body);
  const finish = candidate?.finishReason;
  if (blocks.length === 0 && isBroken(finish)) throw new Error(`nothing but ${finish}`);
  const hasCalls = blocks.some(({ kind }) => kind === "tool-call");
  return {
    id: providerText(body.responseId),
    model: providerText(body.modelVersion) ?? "",
    blocks: [...blocks, ...explained],
    stop: candidate === undefined ? "filtered" : readFinishReason(finish, hasCalls),
    stopSequence: undefined,
    usage: readGenerateContentUsage(body.usageMetadata),
  };
}

/**
 * Joins adjacent texts, which may arrive in several parts as in a stream. Clients read JSON output from the first block
 * only.
 */
function joined(blocks: readonly ResponseBlock[], next: ResponseBlock): readonly ResponseBlock[] {
  const last = blocks.at(-1);
  if (last?.kind !== "text" || next.kind !== "text") return [...blocks, next];
  return [...blocks.slice(0, -1), { kind: "text", text: last.text + next.text }];
}

/** Reads the searches of a candidate as one; `undefined` if there were none. */
export function readGrounding({ groundingMetadata: found }: JsonObject): SearchBlock | undefined {
  if (!isJsonObject(found)) return undefined;
  const chunks = Array.isArray(found.groundingChunks) ? found.groundingChunks : [];
  const queries = Array.isArray(found.webSearchQueries) ? found.webSearchQueries : [];
  const pages = readPages(chunks.map((chunk) => (isJsonObject(chunk) ? chunk.web : undefined)));
  if (queries.length === 0 && pages.length === 0) return undefined;
  const id = randomId();
  return { kind: "search", id, query: queries.map(String).join(" "), pages };
}

function cited(block: ResponseBlock, { pages }: SearchBlock): ResponseBlock {
  return block.kind === "text" ? { ...block, ...citing(pages) } : block;
}

/** Returns the only candidate; several are never requested. */
export function firstCandidate({ candidates }: JsonObject): JsonObject | undefined {
  const [candidate] = Array.isArray(candidates) ? candidates : [];
  return isJsonObject(candidate) ? candidate : undefined;
}

/** Reads the parts of a candidate. Throws for content that no other format has. */
export function readParts(candidate: JsonObject, programs: RanPrograms): readonly ResponseBlock[] {
  return candidateParts(candidate).flatMap((part) => programs.read(part) ?? readPart(part));
}

/** Returns the parts of a candidate. */
export function candidateParts({ content }: JsonObject): readonly JsonObject[] {
  const parts = isJsonObject(content) ? content.parts : undefined;
  return Array.isArray(parts) ? parts.filter(isJsonObject) : [];
}

/** Reads why a prompt was refused or a completion ended early, which is the text with which a model of OpenAI refuses. */
export function explanationOf(response: JsonObject): readonly RefusalBlock[] {
  const { finishMessage: explained, finishReason } = firstCandidate(response) ?? {};
  const { promptFeedback: feedback } = response;
  const blocked = isJsonObject(feedback) ? feedback.blockReasonMessage : undefined;
  const text = finishReason !== "STOP" && isFilledText(explained) ? explained : blocked;
  return isFilledText(text) ? [{ kind: "text", text, isRefusal: true }] : [];
}

/** Whether the provider refused the prompt, so that there are no candidates. */
export function isPromptBlocked({ promptFeedback: feedback }: JsonObject): boolean {
  return isJsonObject(feedback) && typeof feedback.blockReason === "string";
}

/**
 * Returns the blocks of a part. The signature of a call is also added to a reasoning block before it, so that it survives in formats whose calls have no signatures. Throws for content
 * that no other format has, such as an image.
 */
function readPart(part: JsonObject): readonly ResponseBlock[] {
  const { text, functionCall: call } = part;
  if (isJsonObject(call)) {
    const signature = providerText(part.thoughtSignature);
    const block: ResponseBlock = {
      kind: "tool-call",
      id: providerText(call.id) || `call_${randomId()}`,
      name: providerText(call.name) ?? "",
      input: JSON.stringify(call.args ?? {}),
      signature,
    };
    if (signature === undefined) return [block];
    return [{ kind: "reasoning", text: "", signature: markSignature(signature) }, block];
  }
  const other = Object.keys(part).find((key) => !WITHOUT_CONTENT.has(key));
  if (text === undefined && other !== undefined)
    throw new Error(`the response has a part with "${other}"`);
  if (typeof text !== "string" || text === "") return [];
  if (part.thought === true) return [{ kind: "reasoning", text, signature: undefined }];
  return [{ kind: "text", text }];
}

/** Members of parts that add nothing to what the model says, besides its text. */
const WITHOUT_CONTENT: ReadonlySet<string> = new Set([
  ...["text", "thought", "thoughtSignature", "partMetadata", "videoMetadata", "mediaResolution"],
  ...["toolCall", "toolResponse"],
]);

/** Reads `finishReason`; unknown values are a normal end. There is no value for calls. */
export function readFinishReason(finish: unknown, hasCalls: boolean): StopReason {
  switch (finish) {
    case "MAX_TOKENS":
      return "length";
    case "SAFETY":
    case "RECITATION":
    case "LANGUAGE":
    case "BLOCKLIST":
    case "PROHIBITED_CONTENT":
    case "SPII":
    case "MODEL_ARMOR":
    case "IMAGE_SAFETY":
    case "IMAGE_PROHIBITED_CONTENT":
    case "IMAGE_RECITATION":
      return "filtered";
    default:
      return hasCalls ? "tool-calls" : "end";
  }
}

/** Whether a `finishReason` reports a failure of the model. */
export function isBroken(finish: unknown): boolean {
  return typeof finish === "string" && BROKEN.has(finish);
}

const BROKEN: ReadonlySet<string> = new Set([
  "MALFORMED_FUNCTION_CALL",
  "UNEXPECTED_TOOL_CALL",
  "TOO_MANY_TOOL_CALLS",
  "MALFORMED_RESPONSE",
  "MISSING_THOUGHT_SIGNATURE",
  "OTHER",
]);
