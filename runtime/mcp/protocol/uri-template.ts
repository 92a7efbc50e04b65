/**
 * Whether a URI can be an expansion of a template (RFC 6570): its literal parts occur in order, from the first character to
 * the last. A value contains no `/` unless its operator is `+`, `#` or `/`. Each part takes time linear in the length of
 * the URI, whatever the template is.
 */
export function matchesTemplate(template: string, uri: string): boolean {
  /** Whether each offset can be the end of all parts matched so far. */
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
