import type { MessageCode } from "../messages/index.ts";
import { type Location, locationText } from "../source.ts";
import { type Paint, painter } from "./colors.ts";
import { type Cell, cells } from "./display-width.ts";
import { type Finding, totals } from "./findings.ts";

const COLORS = { error: "red", warning: "yellow", note: "cyan" } as const;

/** Maximum number of findings that are printed. */
const LIMIT = 100;

/** Formats findings for people: message, place, source with a marker, related places, hint; totals at the end. */
export function textReport(findings: readonly Finding[], isColored: boolean): string {
  const paint = painter(isColored);
  if (findings.length === 0) return "";
  const shown = findings.slice(0, LIMIT).map((finding) => findingText(finding, paint));
  const rest = findings.length - shown.length;
  if (rest > 0) shown.push(`... and ${rest} more (\`gwc check --format json\` prints all)\n`);
  return `${shown.join("\n")}\n${totals(findings)}\n`;
}

function findingText(finding: Finding, paint: Paint): string {
  const { code, severity, message, hint, location, related } = finding;
  const color = COLORS[severity];
  const frame = frameLine(location, code);
  const frames = related.map((each) => frameLine(each.location, code));
  const gutter = Math.max(
    2,
    ...[frame, ...frames].map((each) => String(each?.number ?? "").length + 1),
  );
  const lines = [
    `${paint([color, "bold"], `${severity}[${code}]`)}${paint("bold", `: ${message}`)}`,
    placeLine("-->", location, gutter, paint),
    ...frameLines(frame, "^", "", gutter, (text) => paint(color, text), paint),
  ];
  related.forEach(({ label, location: place }, index) => {
    lines.push(placeLine("::>", place, gutter, paint));
    lines.push(
      ...frameLines(frames[index], "-", ` ${label}`, gutter, (text) => paint("cyan", text), paint),
    );
  });
  if (hint !== undefined)
    lines.push(`${" ".repeat(gutter)}${paint("cyan", "=")} ${paint("bold", "hint:")} ${hint}`);
  return `${lines.join("\n")}\n`;
}

function placeLine(arrow: string, location: Location, gutter: number, paint: Paint): string {
  return `${" ".repeat(gutter - 1)}${paint("cyan", arrow)} ${locationText(location)}`;
}

function frameLines(
  frame: FrameLine | undefined,
  mark: string,
  label: string,
  gutter: number,
  emphasise: (text: string) => string,
  paint: Paint,
): string[] {
  if (frame === undefined) return [];
  const bar = paint("cyan", "|");
  const number = paint("cyan", String(frame.number).padStart(gutter - 1));
  const marks = emphasise(mark.repeat(frame.markWidth) + label);
  return [
    `${number} ${bar} ${frame.text}`,
    `${" ".repeat(gutter)}${bar} ${" ".repeat(frame.markStart)}${marks}`,
  ];
}

/** A source line cut to the available width, and the columns of the marker. */
interface FrameLine {
  /** Starts at 1. */
  readonly number: number;
  readonly text: string;
  readonly markStart: number;
  /** At least 1. */
  readonly markWidth: number;
}

/** Width of the source in a frame, in columns. */
const WIDTH = 96;
/** Columns before the marker in a cut line. */
const LEAD = 32;
const CUT: Cell = { text: "…", width: 1 };

/**
 * Returns the source line of a diagnostic with its marker; `undefined` without source (a file that could not be read).
 */
function frameLine(location: Location, code: MessageCode): FrameLine | undefined {
  const { text, start, line } = location;
  if (text === "") return undefined;
  const lineStart = start === 0 ? 0 : text.lastIndexOf("\n", start - 1) + 1;
  const lineEnd = endOfLine(text, start);
  const markEnd = Math.min(Math.max(location.end, start), lineEnd);
  const [from, to] = [start - lineStart, markEnd - lineStart];
  const shown = shownLine(code, text.slice(lineStart, lineEnd), from, to);
  return { number: line, ...mark(shown, from, to) };
}

function endOfLine(text: string, offset: number): number {
  const end = text.indexOf("\n", offset);
  if (end < 0) return text.length;
  return end > 0 && text[end - 1] === "\r" && end > offset ? end - 1 : end;
}

function mark(line: string, start: number, end: number): Omit<FrameLine, "number"> {
  const all = cells(line);
  const startColumn = widthBefore(all, start);
  const markWidth = Math.max(1, widthBefore(all, end) - startColumn);
  const total = widthBefore(all, line.length);
  if (total <= WIDTH)
    return { text: all.map(({ cell }) => cell.text).join(""), markStart: startColumn, markWidth };
  const from = startColumn + Math.min(markWidth, WIDTH / 2) > WIDTH ? startColumn - LEAD : 0;
  return cut(all, from, startColumn, markWidth);
}

type Line = ReturnType<typeof cells>;

function widthBefore(line: Line, offset: number): number {
  let width = 0;
  for (const each of line) {
    if (each.offset >= offset) break;
    width += each.cell.width;
  }
  return width;
}

/** Cuts a line to the columns from `from` on that fit, with ellipses for missing parts. */
function cut(
  line: Line,
  from: number,
  startColumn: number,
  markWidth: number,
): Omit<FrameLine, "number"> {
  const kept: Cell[] = [];
  let column = 0;
  let first = 0;
  let width = 0;
  let isCutAfter = false;
  for (const { cell } of line) {
    if (column >= from) {
      if (kept.length === 0) first = column;
      if (width + cell.width > WIDTH) {
        isCutAfter = true;
        break;
      }
      kept.push(cell);
      width += cell.width;
    }
    column += cell.width;
  }
  const before = first > 0 ? [CUT] : [];
  const text = [...before, ...kept, ...(isCutAfter ? [CUT] : [])].map((cell) => cell.text).join("");
  const markStart = startColumn - first + before.length;
  return { text, markStart, markWidth: Math.min(markWidth, width + before.length - markStart) };
}

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
