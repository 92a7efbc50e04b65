import { shownText } from "../../model/texts.ts";
import type { GuardNode, PatternNode, PromptGuardNode } from "./guards.ts";

/** What is scanned where, for people: a line for requests, for whole responses, for streams, and for how patterns see them. */
export function guardLines({
  request,
  response,
  guardsStreams,
}: PromptGuardNode): readonly string[] {
  const windows = response.flatMap((each) => (each.kind === "regex" ? [] : [each.window]));
  const [window] = windows;
  return [
    ...(request.length === 0 ? [] : [`requests: ${guardsText(request)}`]),
    ...(response.length === 0
      ? []
      : [`responses: ${guardsText(response)}`, streamsText(guardsStreams, window)]),
    ...([...request, ...response].some(({ kind }) => kind === "regex") ? [PATTERNS_TEXT] : []),
  ];
}

/** See `readingOf` of the runtime, and what it joins. */
const PATTERNS_TEXT =
  "texts: patterns see them as they read, without characters of no width and with look-alikes as what they look like; what one role says in parts as one";

function streamsText(guardsStreams: boolean, window: number | undefined): string {
  if (!guardsStreams) return "streams: no guard";
  return window === undefined
    ? "streams: the same, as they pass"
    : `streams: the same, with servers asked about ${window} characters at a time`;
}

/** `1.regex (mask ssn, email), 2.webhook (http://127.0.0.1:9000)` */
function guardsText(guards: readonly GuardNode[]): string {
  return guards.map((each, index) => `${index + 1}.${each.kind} (${guardText(each)})`).join(", ");
}

function guardText(node: GuardNode): string {
  const scope = node.scope === undefined ? "all texts" : node.scope.join(", ");
  if (node.kind !== "regex") return `asks ${shownText(node.target.url)}; ${scope}`;
  const names = node.patterns.map(patternText);
  return `${node.rejection === undefined ? "masks" : "rejects"} ${names.join(", ")}; ${scope}`;
}

/** A pattern as it is configured: `ssn`, `secret-\\d+`. */
export function patternText(node: PatternNode): string {
  return node.kind === "named" ? node.name : node.pattern;
}
