import { expect, it } from "vitest";
import { code, comment, literal } from "../../templates/code/code.ts";
import { name } from "../../templates/code/names.ts";
import { printText } from "../../templates/code/print.ts";

const HIDDEN = "\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069";

it("characters that turn the direction of text are escaped in comments and literals", () => {
  const text = printText(code`
    ${comment(`a${HIDDEN}b`)}
    const ${name("found")} = ${literal({ [`key${HIDDEN}`]: `value${HIDDEN}` })};
  `);
  expect(text).not.toMatch(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/);
  expect(text.match(/\\u202e/g)).toHaveLength(3);
});
