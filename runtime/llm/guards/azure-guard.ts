import { isJsonObject } from "../../json/json-object.ts";
import { callServer } from "./call-server.ts";
import type { GuardStep } from "./prompt-guard.ts";
import type { GuardInput, ServerGuardSettings } from "./server-guard.ts";
import { ServerGuardStep } from "./server-step.ts";

/** A resource of Azure AI Content Safety that checks texts. */
export interface AzureGuardSettings extends ServerGuardSettings {
  /** Analysis of texts; absent if it is disabled. */
  readonly analysis?: TextAnalysis;
  /** API version of the detection of prompt attacks; absent if it is disabled. */
  readonly shieldVersion?: string;
}

/** Configuration of the analysis. */
export interface TextAnalysis {
  readonly apiVersion: string;
  /** Severity (0 safe, 2 low, 4 medium, 6 high) from which a text is rejected. */
  readonly severity: number;
  readonly blocklistNames: readonly string[];
  readonly haltOnBlocklistHit: boolean;
}

/** Maximum characters per request of the service (10,000), and the overlap of consecutive pieces. */
const PIECE_LENGTH = 10_000;
const OVERLAP = 500;

/**
 * Checks texts with Azure AI Content Safety. Rejects text that is too severe or on a blocklist, and prompts that attack the
 * model.
 */
export function azureGuard({
  analysis,
  shieldVersion,
  ...settings
}: AzureGuardSettings): GuardStep {
  const tests = [
    ...(analysis === undefined ? [] : [analyze(settings, analysis)]),
    ...(shieldVersion === undefined ? [] : [shield(settings, shieldVersion)]),
  ];
  return new ServerGuardStep({
    kind: "azureContentSafety",
    ...settings,
    check: async (input) => {
      for (const piece of piecesOf(input.texts.map(({ text }) => text).join("\n"))) {
        const found = await Promise.all(tests.map((isBad) => isBad(piece, input)));
        if (found.includes(true)) return { kind: "reject" };
      }
      return { kind: "pass" };
    },
  });
}

/** Whether to reject a text. The promise rejects if the service does not respond with a result. */
type TextTest = (text: string, input: GuardInput) => Promise<boolean>;

function analyze(
  settings: ServerGuardSettings,
  { apiVersion, severity, blocklistNames, haltOnBlocklistHit }: TextAnalysis,
): TextTest {
  const path = pathOf("text:analyze", apiVersion);
  return async (text, input) => {
    const body = { text, blocklistNames, haltOnBlocklistHit, outputType: "FourSeverityLevels" };
    const response = await callServer(settings, { path, body }, input);
    const { blocklistsMatch: matches = [], categoriesAnalysis: categories } = response;
    if (!Array.isArray(matches) || !Array.isArray(categories)) throw new Error("no analysis");
    return matches.length > 0 || categories.some((each) => severityOf(each) >= severity);
  };
}

function severityOf(category: unknown): number {
  const severity = isJsonObject(category) ? category.severity : undefined;
  if (typeof severity !== "number") throw new Error("no severity");
  return severity;
}

/** Detects attacks in user prompts, and so only in requests. */
function shield(settings: ServerGuardSettings, apiVersion: string): TextTest {
  const path = pathOf("text:shieldPrompt", apiVersion);
  return async (userPrompt, input) => {
    const body = { userPrompt, documents: [] };
    const { userPromptAnalysis: found } = await callServer(settings, { path, body }, input);
    const isAttack = isJsonObject(found) ? found.attackDetected : undefined;
    if (typeof isAttack !== "boolean") throw new Error("no analysis");
    return isAttack;
  };
}

function pathOf(operation: string, apiVersion: string): string {
  return `/contentsafety/${operation}?api-version=${encodeURIComponent(apiVersion)}`;
}

/** Splits a text into pieces that the service accepts, without splitting surrogate pairs. */
function* piecesOf(text: string): Iterable<string> {
  for (let start = 0; ; ) {
    const end = start + PIECE_LENGTH;
    if (end >= text.length) {
      yield text.slice(start);
      return;
    }
    yield text.slice(start, isLowSurrogate(text, end) ? end - 1 : end);
    start = end - OVERLAP;
    if (isLowSurrogate(text, start)) start -= 1;
  }
}

function isLowSurrogate(text: string, at: number): boolean {
  return (text.charCodeAt(at) & 0xfc00) === 0xdc00;
}
