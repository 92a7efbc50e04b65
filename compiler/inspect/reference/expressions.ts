import type { FunctionDeclaration } from "../../cel/functions/declaration.ts";
import { libraries } from "../../cel/functions/index.ts";
import { operatorNames, operators } from "../../cel/functions/operators.ts";
import { MACRO_DOCS } from "../../cel/macro-docs.ts";
import { formatType } from "../../cel/types/types.ts";
import {
  CEL_PHASES,
  type CelPhase,
  describePhase,
  phaseEnvironment,
} from "../../cel/variables/variables.ts";
import { heading, type Page, type Part, paragraph, table } from "./page.ts";

/** Returns the page about expressions: variables, macros, functions. */
export function expressionsPage(): Page {
  const phases = CEL_PHASES.map((phase) => `**${phase}** is ${describePhase(phase)}`).join("; ");
  return {
    title: "Expressions",
    parts: [
      ...INTRODUCTION.split("\n\n").map(paragraph),
      heading("Variables"),
      paragraph(`Where a variable can be used: ${phases}.`),
      ...variableTable(),
      heading("Macros"),
      paragraph("A macro declares variables of its own: `x`, or `k` and `v`."),
      ...table(["macro", "what it gives", "example"], MACRO_DOCS.map(macroRow)),
      ...libraries.flatMap(({ title, functions }) => [
        heading(title),
        ...table(["function", "what it gives", "example"], functions.map(functionRow)),
      ]),
    ],
  };
}

const INTRODUCTION = `Expressions are written in CEL, the Common Expression Language, and compiled to TypeScript.

Rules and filters are true or false. Evaluation never throws: a missing value or a wrong type makes the expression an
*error*. An allow or require rule with an error does not match; a deny rule with an error denies; a value with an error is
omitted. \`a || b\` is true if either operand is true, even if the other one is an error; likewise \`a && b\` is false if either is false.

An MCP item is a tool, a prompt or a resource. A condition on the name of another kind is false, and so is its negation:
\`deny: mcp.tool.name == "x" || mcp.prompt.name == "y"\` denies only that tool and that prompt. A require rule applies to
the kinds for which it can be true, and ignores the others. \`has(mcp.tool)\` tests the kind itself.

Numbers are 64-bit ints (\`1\`), uints (\`1u\`) or doubles (\`1.0\`). They compare by value across types, and are converted
only by \`int()\`, \`uint()\` and \`double()\`. Strings are ordered and indexed by code point. Whole numbers in JSON are ints,
others doubles.

Claims and bodies are untrusted: only their own fields are read, not properties that every object inherits
(\`constructor\`, \`__proto__\`).

A file can define functions of its own in \`config.customFunctions\`: \`isInternal() { request.headers["x-env"] == "internal" }\`, and
\`this.isOf(group) { group in this }\` for calls on a value. They are compiled where they are called, may call each other, and read the
variables of that place. In manifests they are in \`rawConfig\` of GatewayParameters, for everything that the Gateway serves.

\`in\`, \`exists\` and \`all\` accept lists of any length from a request. Functions that create a new list, map or string from one
(\`map\`, \`filter\`, \`join\`, ...) accept at most 100,000 elements, \`sort\` at most 20,000; longer lists are an error. Nested macros multiply:
two accept lists of at most 1,000 elements each, three of at most 100. A string that an expression creates has at most
4,000,000 characters, one that a pattern lengthens 1,000,000; longer ones are an error.

**Repeated headers.** A request may have several lines of one header, and servers differ on which of them counts. Rules are
evaluated for each line by itself and for all lines joined, and every one of these readings must be allowed. So a deny rule
matches if it matches one reading, and an allow or require rule only if it matches all. The same holds for repeated cookies
(\`cookie()\`) and repeated query parameters (\`query()\`). A request with more than 1,000 readings is
refused. The condition of a policy must have the same result in all readings, else the request is refused with 400. Also
refused are requests that repeat a header that the match of a route reads, unless the header is a list by definition (\`Accept\`,
\`Cookie\`, \`Via\`, ...), or that repeat such a query parameter with different values. Values and conditions of models, retries and the log
read the joined lines and the first parameter.

\`json()\` rejects objects with a repeated key, in whatever case, because parsers differ on which of the values
counts and some ignore case. A rule on \`json(request.body).model\` sees only that member; \`allowedModels\` of
an API key covers every place that names a model.

Not supported: numbers without a leading digit (\`.5\`), raw bytes (\`br"…"\`), fields in backticks, optional
elements (\`[?x]\`, \`{?k: v}\`) and protocol buffer messages.`;

function variableTable(): readonly Part[] {
  const paths = new Map<string, { type: string; doc: string; phases: CelPhase[] }>();
  for (const phase of CEL_PHASES) {
    for (const { path, type, doc } of phaseEnvironment(phase).declarations.values()) {
      const row = paths.get(path) ?? { type: formatType(type), doc, phases: [] };
      row.phases.push(phase);
      paths.set(path, row);
    }
  }
  const rows = [...paths].map(([path, { type, doc, phases }]) => [
    `\`${path}\``,
    type === path ? "object" : type,
    phases.length === CEL_PHASES.length ? "all" : phases.join(", "),
    doc,
  ]);
  return table(["variable", "type", "where", "what it is"], rows);
}

function macroRow({ form, doc, example }: (typeof MACRO_DOCS)[number]): readonly string[] {
  return [code(form), doc, exampleText(example)];
}

function functionRow(declaration: FunctionDeclaration): readonly string[] {
  const forms = declaration.overloads.map(({ signature }) => signature);
  const isOperator = operators.includes(declaration);
  const shown = isOperator ? forms.map((form) => operatorForm(declaration.name, form)) : forms;
  const [first = "", ...rest] = shown;
  const more = rest.length > MAX_FORMS ? [...rest.slice(0, MAX_FORMS), "…"] : rest;
  return [
    [first, ...more].map((form) => (form === "…" ? form : code(form))).join("\n"),
    declaration.doc,
    exampleText(declaration.example),
  ];
}

/** Maximum number of forms of a function after the first. */
const MAX_FORMS = 9;

/** Converts `add(int, int): int` to `int + int: int`. */
function operatorForm(name: string, form: string): string {
  const symbol = [...operatorNames].find(([, known]) => known === name)?.[0] ?? "-";
  return form.replace(/^\w+\((.*)\): /, (_, params: string) => {
    const parts = params.split(/, (?![^(]*\))/);
    return `${parts.length === 1 ? `${symbol}${params}` : parts.join(` ${symbol} `)}: `;
  });
}

function exampleText([expression, value]: readonly [string, string]): string {
  return `${code(expression)} → ${code(value)}`;
}

function code(text: string): string {
  return `\`${text}\``;
}
