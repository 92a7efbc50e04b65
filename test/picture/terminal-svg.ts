/** A moment of a recording: all text so far, with ANSI colors, and how long it is shown. */
export interface Frame {
  readonly text: string;
  readonly seconds: number;
}

const [COLUMNS, ROWS] = [100, 18];
/** Size of a character cell in pixels. */
const [WIDTH, HEIGHT] = [8.4, 18];
const MARGIN = 16;

/** Renders a recording as an SVG that repeats by itself, without script. Readers who prefer no motion see the last frame. */
export function terminalSvg(frames: readonly Frame[], title: string): string {
  const total = frames.reduce((sum, { seconds }) => sum + seconds, 0);
  let start = 0;
  const parts = frames.map(({ text, seconds }, index) => {
    const [from, to] = [start, start + seconds].map((at) => ((at / total) * 100).toFixed(2));
    start += seconds;
    const isLast = index === frames.length - 1;
    const keys = `@keyframes f${index} { 0% { opacity: 0 } ${from}% { opacity: 1 } ${to}% { opacity: 0 } 100% { opacity: 0 } }`;
    return {
      style: `${keys} .f${index} { opacity: ${isLast ? 1 : 0}; animation: f${index} ${total}s step-end infinite }`,
      group: `<g class="f${index}">${rows(text)}</g>`,
    };
  });
  const [width, height] = [COLUMNS * WIDTH + 2 * MARGIN, ROWS * HEIGHT + 2 * MARGIN];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escaped(title)}">
<style>
text { font: 14px ui-monospace, Menlo, Consolas, monospace; fill: #d6deeb; white-space: pre }
${Object.entries(COLORS)
  .map(([code, color]) => `.c${code} { fill: ${color} }`)
  .join("\n")}
.c1 { font-weight: bold }
${parts.map(({ style }) => style).join("\n")}
@media (prefers-reduced-motion: reduce) { g { animation: none !important } }
</style>
<rect width="100%" height="100%" rx="8" fill="#111827"/>
${parts.map(({ group }) => group).join("\n")}
</svg>
`;
}

const COLORS: Readonly<Record<string, string>> = {
  "31": "#ff7b72",
  "32": "#7ee787",
  "33": "#f2cc60",
  "34": "#79c0ff",
  "35": "#d2a8ff",
  "36": "#76e3ea",
  "2": "#8b98a9",
  "90": "#8b98a9",
};

/** The last rows of a text as SVG text. */
function rows(text: string): string {
  const lines = text.split("\n").flatMap(wrapped);
  return lines
    .slice(-ROWS)
    .map((line, row) => {
      const y = MARGIN + (row + 0.8) * HEIGHT;
      return line === "" ? "" : `<text x="${MARGIN}" y="${y}">${spans(line)}</text>`;
    })
    .join("");
}

/** Cuts a line at the width of the terminal; styles take no room. */
function wrapped(line: string): readonly string[] {
  const cut: string[] = [];
  let current = "";
  let room = COLUMNS;
  for (const [piece] of line.matchAll(STYLE_OR_CHARACTER)) {
    if (!piece.startsWith("\u001b")) {
      if (room === 0) {
        cut.push(current);
        [current, room] = ["", COLUMNS];
      }
      room -= 1;
    }
    current += piece;
  }
  return [...cut, current];
}

const STYLE_OR_CHARACTER = /\u001b\[[\d;]*m|[\s\S]/gu;

function spans(line: string): string {
  const styles = new Set<string>();
  const parts = line.split(/\u001b\[([\d;]*)m/);
  return parts
    .map((part, index) => {
      if (index % 2 === 0)
        return styles.size === 0 || part === ""
          ? escaped(part)
          : `<tspan class="${[...styles].map((code) => `c${code}`).join(" ")}">${escaped(part)}</tspan>`;
      if (["0", ""].includes(part)) styles.clear();
      else if (part === "39") for (const code of styles) code.length === 2 && styles.delete(code);
      else if (part === "22") for (const code of ["1", "2"]) styles.delete(code);
      else styles.add(part);
      return "";
    })
    .join("");
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
