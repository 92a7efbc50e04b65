/**
 * Whether a template (RFC 6570) may have made a URI: its plain parts stand there in their order, from the first character to
 * the last. A value without `+`, `#` or a list of its own has no `/`. Linear in the URI for each part, whatever they are.
 */
export function matchesTemplate(template: string, uri: string): boolean {
  /** Where a value may end, with all that is before it: whether each offset can be reached. */
  let ends: readonly boolean[] = [true, ...Array.from({ length: uri.length }, () => false)];
  let at = 0;
  for (const { index, 0: expression, 1: operator = "" } of template.matchAll(EXPRESSION)) {
    ends = afterText(ends, uri, template.slice(at, index));
    ends = afterValue(ends, uri, operator);
    at = index + expression.length;
  }
  return afterText(ends, uri, template.slice(at))[uri.length] === true;
}

/** RFC 6570 2.2: the operator of an expression is its first character. */
const EXPRESSION = /\{([+#./;?&]?)[^{}]*\}/g;

function afterText(ends: readonly boolean[], uri: string, text: string): readonly boolean[] {
  if (text === "") return ends;
  return ends.map((_, end) => {
    const start = end - text.length;
    return ends[start] === true && uri.startsWith(text, start);
  });
}

function afterValue(ends: readonly boolean[], uri: string, operator: string): readonly boolean[] {
  const hasSlashes = operator === "+" || operator === "#" || operator === "/";
  let isReached = false;
  return ends.map((isEnd, end) => {
    if (!hasSlashes && uri[end - 1] === "/") isReached = false;
    isReached ||= isEnd;
    return isReached;
  });
}
