import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { root } from "../harness/root.ts";

/** One violation of the rules for text, at a line of a file. */
export interface VoiceFinding {
  readonly file: string;
  readonly line: number;
  readonly rule: string;
  readonly text: string;
}

/** A run of prose: a comment without its markers, a code line without comments, or a paragraph of Markdown. */
interface Prose {
  readonly line: number;
  readonly text: string;
  readonly isComment: boolean;
}

/** Documents that are generated from descriptions in the code. */
const GENERATED = /^\.github\/reference\//;

/** Maximum number of words in a sentence of a guide. */
const MAX_WORDS = 25;

/** Phrases that a reader has to decode, each with the words to use instead. */
const PHRASES: readonly (readonly [phrase: RegExp, rule: string])[] = [
  [/\bunder way\b|\bunderWay\b|UNDER_WAY/i, '"in flight" or "in progress" instead of "under way"'],
  [
    /\btold of\b|\btold so\b|\b(?:is|are) told\b(?! apart)/i,
    '"logged", "reported" instead of "told of"',
  ],
  [
    /\b(?:broken|breaks|break|breaking|broke) (?:it |them )?off\b/i,
    '"aborted" instead of "broken off"',
  ],
  [/\bin the place of\b/i, '"instead of" instead of "in the place of"'],
  [/\bbeside\b/i, '"next to", "requires" or "with" instead of "beside"'],
  [
    /\bcomes? of (?:it|them|this|that)\b|\bbecomes? of\b|\bbecome of\b/i,
    '"the result" instead of "comes of it"',
  ],
  [
    /(?<!there )\b(?:is|are|was|were|be) none\b/i,
    '"is not a ..." or "there is no ..." instead of "is none"',
  ],
  [/\bis nobody's\b|\bare nobody's\b/i, 'name the owner instead of "is nobody\'s"'],
  [
    /\b(?:stands?|stood|standing)\b(?! (?:for|in for|in the)\b)/i,
    '"is", "appears" or "is placed" instead of "stands"',
  ],
  [/\bsays? so\b|\bsaid so\b|\bsaying so\b/i, '"reports it" instead of "says so"'],
  [/\bof which there is none\b/i, '"there is no ..." instead of "is none"'],
  [
    /\bgoes? on\b(?! (?:the|a|to)\b)|\bgo on\b(?! (?:the|a|to)\b)/i,
    '"continues" instead of "goes on"',
  ],
  [/\bwhoever\b/i, 'name the subject instead of "whoever"'],
];

/** Sentences that open with a relative pronoun used as a noun. */
const OPENING = /(?:^|[.;] )(?:Who|What|Whose|Whatever|Whoever)\b(?![^.;]*\?)/;
const OPENING_OF_COMMENT = /^(?:Who|What|Whose|Where|Whatever|Whoever|Whom)\b(?![^.]*\?)/;

/** Earlier names of things that have one name now. */
const OLD_NAMES =
  /\b(?:(?:MOST|LONGEST|FEW|FEWEST)_[A-Z_]+|(?:most|longest)(?!Specific|Increasing|First)[A-Z]\w*|whenThere|Eventual|giveHead|HeldWrites|GivenAway|TopicFates|saidElsewhere|MetPolicies|leftOut|SettledFile|come-first|sound-parts|few-unknown-keys|meant-field)\b/;

/** Finds what the rules for text forbid in one file. */
export function voiceFindings(file: string): readonly VoiceFinding[] {
  const content = readFileSync(path.join(root, file), "utf8");
  const isGuide = file.endsWith(".md");
  const prose = isGuide ? paragraphsOf(content) : partsOfCode(content);
  return prose.flatMap(({ line, text, isComment }) => {
    const rules = PHRASES.flatMap(([phrase, rule]) => (phrase.test(text) ? [rule] : []));
    if (isComment && OPENING_OF_COMMENT.test(text))
      rules.push("a comment starts with a verb or a noun phrase, not with Who, What, Whose, Where");
    else if ((isComment || isGuide) && OPENING.test(text))
      rules.push("a sentence starts with its subject, not with Who, What, Whose");
    if (isComment && /\bundefined: /.test(text))
      rules.push('"`undefined` if ..." instead of "undefined: ..."');
    const [oldName] = OLD_NAMES.exec(text) ?? [];
    if (oldName !== undefined) rules.push(`${oldName} has another name now`);
    if (
      isGuide &&
      !GENERATED.test(file) &&
      sentencesOf(text).some((each) => wordsOf(each) > MAX_WORDS)
    )
      rules.push(`a sentence has more than ${MAX_WORDS} words`);
    return rules.map((rule) => ({ file, line, rule, text }));
  });
}

/** The files with text of ours: code, tests, guides, scripts of pages. */
export function voicedFiles(under = ""): readonly string[] {
  const patterns = [
    "{compiler,runtime,templates,test}/**/*.{ts,mjs,js}",
    "{README.md,.github/**/*.md}",
    "examples/**/*.{yaml,md}",
  ];
  return patterns
    .flatMap((pattern) => globSync(pattern, { cwd: root }))
    .map((file) => file.replaceAll("\\", "/"))
    .filter((file) => file.startsWith(under) && !EXCLUDED.test(file))
    .toSorted();
}

/** Text of others: generated protobuf code, fixtures that users could have written, schemas of providers. */
const EXCLUDED =
  /^\.github\/site\/(?:pages|node_modules|dist)\/|^test\/voice\/|^test\/laws-of-voice|^runtime\/grpc\/(?:.*\/)?(?:generated|messages)\/|_pb\.ts$|\/fixtures\/|provider-schemas|lookalikes\.ts$/;

function partsOfCode(content: string): readonly Prose[] {
  const parts: Prose[] = [];
  let comment: { line: number; texts: string[] } | undefined;
  const close = () => {
    if (comment !== undefined)
      parts.push({ line: comment.line, text: comment.texts.join(" ").trim(), isComment: true });
    comment = undefined;
  };
  let isInBlock = false;
  for (const [index, source] of content.split("\n").entries()) {
    const line = index + 1;
    const own = /^\s*(\/\*\*?|\*\/|\*|\/\/|#(?!!))\s?(.*?)(?:\*\/)?\s*$/.exec(source);
    const marker = own?.[1];
    const isBlockLine: boolean = marker !== undefined && (marker.startsWith("/*") || isInBlock);
    if (own !== null && (isBlockLine || marker === "//" || marker === "#")) {
      if (marker?.startsWith("/*")) close();
      comment ??= { line, texts: [] };
      comment.texts.push(own[2] ?? "");
      isInBlock = isBlockLine && !source.includes("*/");
      if (source.includes("*/")) close();
      continue;
    }
    close();
    const [code = "", trailing] = source.split(/\s\/\/ (?=[^"`']*$)/);
    parts.push({ line, text: code, isComment: false });
    if (trailing !== undefined) parts.push({ line, text: trailing, isComment: true });
  }
  close();
  return parts;
}

function paragraphsOf(content: string): readonly Prose[] {
  const parts: Prose[] = [];
  let isCode = false;
  let paragraph: { line: number; texts: string[] } | undefined;
  const close = () => {
    if (paragraph !== undefined)
      parts.push({ line: paragraph.line, text: paragraph.texts.join(" "), isComment: false });
    paragraph = undefined;
  };
  for (const [index, source] of content.split("\n").entries()) {
    const line = index + 1;
    if (/^\s*```/.test(source)) {
      close();
      isCode = !isCode;
      continue;
    }
    if (isCode || /^\s*(?:\||#|$|[-*] |\d+\. )/.test(source)) close();
    if (source.trim() === "") continue;
    if (isCode) {
      const [, comment] = /(?:^|\s)#\s+(.*)$/.exec(source) ?? [];
      if (comment !== undefined) parts.push({ line, text: comment, isComment: true });
      continue;
    }
    if (/^\s*\|/.test(source)) {
      for (const cell of source.split("|"))
        parts.push({ line, text: cell.trim(), isComment: false });
      continue;
    }
    paragraph ??= { line, texts: [] };
    paragraph.texts.push(source.trim().replace(/^(?:[-*]|\d+\.|#+) /, ""));
    if (/^\s*#/.test(source)) close();
  }
  close();
  return parts;
}

/** The sentences of a paragraph; code spans, links and list markers count as one word each. */
function sentencesOf(text: string): readonly string[] {
  return text
    .replace(/`[^`]*`/g, "x")
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .split(/(?<=[.!?:;][*)"]*)\s+/);
}

function wordsOf(sentence: string): number {
  return sentence.split(/\s+/).filter((word) => /\w/.test(word)).length;
}
