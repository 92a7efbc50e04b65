import { type Html, html } from "./html.ts";

const TOKEN =
  /(?<comment>\/\/.*)|(?<string>"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`)|(?<number>\b\d[\d_.]*\b)|(?<keyword>\b(?:async|await|const|else|export|false|from|function|if|import|meta|new|null|return|true|type|typeof|undefined|void)\b)|(?<type>\b[A-Z][A-Za-z]*\b)|(?<call>\b[a-z]\w*(?=\())/g;

/** Generated TypeScript, line by line, its words marked by kind. */
export function highlight(text: string): readonly Html[] {
  return text.trimEnd().split("\n").map(line);
}

function line(text: string): Html {
  const parts: Html[] = [];
  let end = 0;
  for (const match of text.matchAll(TOKEN)) {
    const [word] = match;
    const kind = Object.entries(match.groups ?? {}).find(([, found]) => found !== undefined)?.[0];
    parts.push(html`${text.slice(end, match.index)}<span class="${kind ?? ""}">${word}</span>`);
    end = match.index + word.length;
  }
  return html`${parts}${text.slice(end)}`;
}
