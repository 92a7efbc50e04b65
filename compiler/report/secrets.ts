import type { MessageCode } from "../messages.ts";

/** Diagnostics whose value may be a secret as a whole: their frames end with the key. */
const HIDING: readonly MessageCode[] = ["literal-secret", "bad-key-set"];

/** Whether the value of a diagnostic stays unseen. */
export function hidesValue(code: MessageCode): boolean {
  return HIDING.includes(code);
}

const NAME =
  "(?:token|secret|passw(?:or)?d|credential|api[-_]?key|private[-_]?key|access[-_]?key|authorization)";
const AFTER_KEY = new RegExp(
  `(["']?[\\w.-]*${NAME}[\\w.-]*["']?\\s*[:=]\\s+|"[\\w.-]*${NAME}[\\w.-]*"\\s*:\\s*)("[^"]*"?|'[^']*'?|[^\\s,{}\\[\\]"'#][^,}\\]#]*)`,
  "gi",
);
/** Members of a private or symmetric JSON Web Key, bearer tokens, and user names in URLs. */
const ANYWHERE =
  /("(?:d|p|q|dp|dq|qi|k|priv)"\s*:\s*")[^"]*|\b(bearer\s+)[\w.~+/-]+=*|(\/\/)[^/\s@"']+(?=@)/gi;

/** A source line with its secrets starred out, character for character, so that columns stay. References stay too. */
export function maskSecrets(line: string): string {
  return line
    .replace(AFTER_KEY, (whole, key: string, value: string) =>
      isReference(value) ? whole : key + stars(value),
    )
    .replace(ANYWHERE, (whole, ...groups) => {
      const kept = groups.slice(0, 3).find((group) => typeof group === "string") ?? "";
      return kept + stars(whole.slice(kept.length));
    });
}

function isReference(value: string): boolean {
  return /^["']?\$\{[^}]*\}["']?\s*$/.test(value);
}

function stars(text: string): string {
  return text.replace(/[^\s"']/g, "*");
}
