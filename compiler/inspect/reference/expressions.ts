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

/** The reference of expressions: variables, macros, functions. */
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

Rules and filters are true or false. Evaluation never throws: where something is missing or of a wrong type, the
expression is an *error*. An allow or require rule with an error does not match, a deny rule with an error denies, a value
with an error is left out. \`a || b\` is true when either is, whatever becomes of the other; \`a && b\` is false likewise.

An MCP item is a tool, a prompt or a resource. A condition on the name of another kind is false, and so is its opposite:
\`deny: mcp.tool.name == "x" || mcp.prompt.name == "y"\` denies that tool and that prompt and nothing else. A require rule is
about the kinds of which it can be true, and leaves the others alone. \`has(mcp.tool)\` asks for the kind itself.

Numbers are ints of 64 bits (\`1\`), uints (\`1u\`) or doubles (\`1.0\`). They compare by value across types, and are converted
by \`int()\`, \`uint()\` and \`double()\` only. Strings are ordered and indexed by code point. Numbers in JSON are ints when they
are whole, else doubles.

Claims and bodies come from outside: a field that is there is read, a property that every object inherits
(\`constructor\`, \`__proto__\`) is none.

A list from a request may have any length for \`in\`, \`exists\` and \`all\`. What makes a new list, map or text of one
(\`map\`, \`filter\`, \`join\`, ...) takes at most 100,000 elements, \`sort\` at most 20,000; longer ones are an error. Macros inside each other multiply: two take lists of at most
1,000 elements each, three of at most 100. A text that an expression makes has at most 4,000,000 characters, one that a
pattern makes longer 1,000,000; a longer one is an error.

**Repeated headers.** A request may have several lines of one header, and servers differ on which of them counts. Rules are
evaluated for each line by itself and for all lines joined, and every one of these readings must be allowed. So a deny rule
matches if it matches one reading, and an allow or require rule only if it matches all. The same holds for several cookies
of one name (\`cookie()\`) and several query parameters of one name (\`query()\`). A request with more than 1,000 readings is
refused. The condition of a policy must come to the same in all readings, else the request is refused with 400. So is a
request that repeats a header which the match of a route reads, unless the header is a list by its definition (\`Accept\`,
\`Cookie\`, \`Via\` ...), or a query parameter with different values. Values and conditions of models, retries and the log
read the joined lines and the first parameter.

\`json()\` takes no object that has a key twice, in whatever case: that is an error, for readers differ on which of the values
counts, and some do not regard case. A rule over \`json(request.body).model\` sees that one member alone; \`allowedModels\` of
an API key sees every place that names a model.

Not read, though CEL has it: numbers without a leading digit (\`.5\`), raw bytes (\`br"…"\`), fields in backticks, optional
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

/** Forms shown of one function, after the first. */
const MAX_FORMS = 9;

/** `add(int, int): int` as `int + int: int`. */
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
