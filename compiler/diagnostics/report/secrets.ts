import type { MessageCode } from "../messages/index.ts";

/**
 * What a report shows of a source line whose part from `start` to `end` is marked. Secrets are starred out, character
 * for character, so that columns stay.
 */
export function shownLine(code: MessageCode, line: string, start: number, end: number): string {
  // The mark is the secret's key; nothing behind it is shown.
  if (code === "literal-secret") return maskSecrets(line.slice(0, end));
  const marked = line.slice(start, end);
  // A key set that is written out may hold a private key, in any quoting.
  if (code === "bad-key-set" && /[{"]/.test(marked))
    return maskSecrets(line.slice(0, start)) + stars(marked);
  return maskSecrets(line);
}

const NAME =
  "(?:token|secret|passw(?:or)?d|credential|api[-_]?key|private[-_]?key|access[-_]?key|authorization)";
/** A word is tried from its start only: from each of its letters would take time with the square of its length. */
const KEY = `(?<![\\w.-])(?=[\\w.-]*${NAME})[\\w.-]+(?![\\w.-])`;
const AFTER_KEY = new RegExp(
  `(${KEY}(?:["']?\\s*[:=]\\s+|"\\s*:\\s*))("[^"]*"?|'[^']*'?|[^\\s,{}\\[\\]"'#][^,}\\]#]*)`,
  "gi",
);
/** Arguments of a command: `--api-key=VALUE`, `NAME_TOKEN=VALUE`, and `--token VALUE` as text or as two items. */
const ARGUMENT = new RegExp(
  `(${KEY}=(?!=)|(?<![\\w-])--[\\w-]*${NAME}(?![\\w-])["']?(?:\\s*,\\s*|\\s+)["']?)([^\\s"',\\]-][^\\s"',\\]]*)`,
  "gi",
);
/** Members of a private or symmetric JSON Web Key, bearer tokens, and user names in URLs. */
const ANYWHERE =
  /("(?:d|p|q|dp|dq|qi|k|priv)"\s*:\s*")[^"]*|\b(bearer\s+)[\w.~+/-]+=*|(\/\/)[^/\s@"']+(?=@)/gi;

function maskSecrets(line: string): string {
  // References to variables stay, and what says whether something is so.
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

/** `allowCredentials: true`, or `yes`, which people write for it. */
function isBoolean(value: string): boolean {
  return /^(?:true|false|yes|no|on|off)\s*$/i.test(value);
}

/** `tokens: 1000`, `max_tokens: "llmRequest.max_tokens / 2"` */
function isCount(key: string, value: string): boolean {
  if (/\bmax[\w-]*tokens["']?\s*[:=]/i.test(key)) return true;
  return /tokens["']?\s*[:=]/i.test(key) && /^\d+\s*$/.test(value);
}

function stars(text: string): string {
  return text.replace(/[^\s"']/g, "*");
}
