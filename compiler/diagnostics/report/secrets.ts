import type { MessageCode } from "../messages/index.ts";

/**
 * Returns a source line, marked from `start` to `end`, as a report shows it. Secrets are replaced by stars of the same
 * length, so that columns stay the same.
 */
export function shownLine(code: MessageCode, line: string, start: number, end: number): string {
  // The marker is on the key of the secret; nothing after it is shown.
  if (code === "literal-secret") return maskSecrets(line.slice(0, end));
  const marked = line.slice(start, end);
  // A literal key set may contain a private key, in any quoting.
  if (code === "bad-key-set" && /[{"]/.test(marked))
    return maskSecrets(line.slice(0, start)) + stars(marked);
  return maskSecrets(line);
}

const NAME =
  "(?:token|secret|passw(?:or)?d|credential|api[-_]?key|private[-_]?key|access[-_]?key|authorization)";
/** Words are only matched from their start: matching from each letter would take quadratic time. */
const KEY = `(?<![\\w.-])(?=[\\w.-]*${NAME})[\\w.-]+(?![\\w.-])`;
const AFTER_KEY = new RegExp(
  `(${KEY}(?:["']?\\s*[:=]\\s+|"\\s*:\\s*))("[^"]*"?|'[^']*'?|[^\\s,{}\\[\\]"'#][^,}\\]#]*)`,
  "gi",
);
/** Command line arguments: `--api-key=VALUE`, `NAME_TOKEN=VALUE`, and `--token VALUE` as one string or two items. */
const ARGUMENT = new RegExp(
  `(${KEY}=(?!=)|(?<![\\w-])--[\\w-]*${NAME}(?![\\w-])["']?(?:\\s*,\\s*|\\s+)["']?)([^\\s"',\\]-][^\\s"',\\]]*)`,
  "gi",
);
/** Members of a private or symmetric JSON Web Key, bearer tokens, and user names in URLs. */
const ANYWHERE =
  /("(?:d|p|q|dp|dq|qi|k|priv)"\s*:\s*")[^"]*|\b(bearer\s+)[\w.~+/-]+=*|(\/\/)[^/\s@"']+(?=@)/gi;

function maskSecrets(line: string): string {
  // References to variables and booleans are not masked.
  const masked = (whole: string, key: string, value: string) =>
    isReference(value) || isBoolean(value) || isCount(key, value) ? whole : key + stars(value);
  return line
    .replace(AFTER_KEY, masked)
    .replace(ARGUMENT, masked)
    .replace(ANYWHERE, (whole, ...groups) => {
      const kept = groups.slice(0, 3).find((group) => typeof group === "string") ?? "";
      return kept + stars(whole.slice(kept.length));
    });
}

function isReference(value: string): boolean {
  return /^["']?\$\{[^}]*\}["']?\s*$/.test(value);
}

/** Whether a value is a boolean: `allowCredentials: true`, or `yes`. */
function isBoolean(value: string): boolean {
  return /^(?:true|false|yes|no|on|off)\s*$/i.test(value);
}

/** Whether a value is a count: `tokens: 1000`, `max_tokens: "llmRequest.max_tokens / 2"`. */
function isCount(key: string, value: string): boolean {
  if (/\bmax[\w-]*tokens["']?\s*[:=]/i.test(key)) return true;
  return /tokens["']?\s*[:=]/i.test(key) && /^\d+\s*$/.test(value);
}

function stars(text: string): string {
  return text.replace(/[^\s"']/g, "*");
}
