import { didYouMean, message } from "./message.ts";

/** Names of a client's address in other gateways. */
const ADDRESS_WORDS = /^(?:ip|(?:client|remote|source|peer)_?(?:ip|addr|address))$/i;

/** Diagnostics about CEL expressions. */
export const celMessages = {
  "bad-function": message<{ problem: string }>({
    severity: "error",
    text: ({ problem }) => `this function cannot be used: ${problem}`,
    hint: () =>
      'write name(a, b) { EXPRESSION }: isInternal() { request.headers["x-env"] == "internal" }',
    explanation:
      "`config.customFunctions` defines functions one after another. Names have letters, digits and `_`, differ from " +
      "those of CEL, and are defined once. A function may call others, but not itself, not even through others.",
  }),
  "bad-function-call": message<{ problem: string }>({
    severity: "error",
    text: ({ problem }) => problem,
    explanation:
      "Calls of functions in `config.customFunctions` have as many arguments as the definition has parameters. A " +
      "function that is defined with `this.` is called on a value: `value.name()`.",
  }),
  "uncalled-function": message<{ name: string }>({
    severity: "warning",
    text: ({ name }) => `no expression calls "${name}"`,
    hint: () => "remove it",
    explanation:
      "Functions in `config.customFunctions` are compiled where they are called. One that is never called changes nothing.",
  }),
  "cel-syntax": message<{ problem: string; advice: string | undefined }>({
    severity: "error",
    text: ({ problem }) => `the expression is not valid CEL: ${problem}`,
    hint: ({ advice }) => advice,
    explanation:
      "The string is not a Common Expression Language expression. The marker shows where parsing stopped. Strings need " +
      "quotes, `and` is written `&&`, and equality is `==`.",
  }),
  "cel-too-long": message<{ limit: number }>({
    severity: "error",
    text: ({ limit }) => `the expression is longer than ${limit} characters`,
    explanation:
      "A CEL expression has at most 16,384 characters. Several rules are easier to read than one long one.",
  }),
  "cel-too-deep": message<{ limit: number }>({
    severity: "error",
    text: ({ limit }) => `the expression is nested more than ${limit} levels deep`,
    hint: () => "split the rule into several, or use a list with `in`",
    explanation:
      "Parentheses, calls and operators nest at most 100 levels deep. A chain of operators counts once. " +
      "A chain of other operators than `&&` and `||` has at most 400 levels, with its operands.",
  }),
  "cel-too-costly": message<{ limit: number }>({
    severity: "error",
    text: ({ limit }) =>
      `this constant may take more than ${limit} characters and items to evaluate`,
    hint: () => "write the result as a literal, or use fewer repetitions",
    explanation:
      "Constant parts of an expression are evaluated when the configuration is compiled. Calls whose results grow, " +
      "such as a chain of `replace`, double the work with each call, so the work is limited.",
  }),
  "cel-number-range": message<{ type: string }>({
    severity: "error",
    text: ({ type }) => `the number is out of range for ${type === "uint" ? "a uint" : "an int"}`,
    explanation:
      "An int has 64 bits with a sign (-9223372036854775808 to 9223372036854775807), a uint 64 bits without " +
      "(0u to 18446744073709551615u). Larger numbers are written as doubles: 1e20.",
  }),
  "cel-unknown-variable": message<{
    name: string;
    known: string;
    suggestion: string | undefined;
    /** Whether it is the whole expression, whose quotes are lost in YAML unless others surround them. */
    isWhole: boolean;
  }>({
    severity: "error",
    text: ({ name }) => `"${name}" is not a variable here`,
    hint: ({ name, suggestion, known, isWhole }) => {
      const quoted = isWhole ? `'"${name}"'` : `"${name}"`;
      return didYouMean(suggestion) ?? `put strings in quotes: ${quoted}; variables here: ${known}`;
    },
    explanation:
      "An expression can use the variables of the phase in which it runs. A rule of a route can use the request and " +
      "the identities that policies of the route set; only an MCP rule can use the tool.",
  }),
  "cel-dashed-field": message<{ name: string; owner: string | undefined }>({
    severity: "error",
    text: ({ name }) =>
      `"${name}" is parsed as a subtraction: a name after a dot cannot contain "-"`,
    hint: ({ name, owner = "…" }) => `write ${owner}["${name}"]`,
    explanation:
      "A field name after a dot consists of letters, digits and `_`. `-` ends it and is the subtraction operator. " +
      'Write other keys in brackets and quotes: `request.headers["x-user"]`.',
  }),
  "cel-wrong-phase": message<{ name: string; phase: string; phases: string }>({
    severity: "error",
    text: ({ name, phase }) => `"${name}" is not available yet in ${phase}`,
    hint: ({ name, phases }) => {
      const use = `use "${name}" in ${phases}`;
      if (name !== "llm") return use;
      return `the requested model is json(request.body).model; ${use}`;
    },
    explanation:
      "Each expression is evaluated at one point of a request. Later data is not available: a rule that decides " +
      "whether a request is allowed cannot read its response. `gwc explain cel` lists the variables of each phase.",
  }),
  "cel-unknown-field": message<{
    owner: string;
    field: string;
    known: string;
    suggestion: string | undefined;
  }>({
    severity: "error",
    text: ({ owner, field }) => `"${owner}" has no field "${field}"`,
    hint: ({ owner, field, suggestion, known }) => {
      const isOfClient = /^(?:request|source)$/.test(owner) && ADDRESS_WORDS.test(field);
      if (isOfClient) return "use `source.address` for the client's address";
      return didYouMean(suggestion) ?? `its fields: ${known}`;
    },
    explanation:
      "The fields of the gateway's variables (request, source, mcp, ...) are known, so misspelled ones are reported " +
      "when the configuration is compiled. Claims are not known in advance: reading an absent claim is an evaluation " +
      "error, and the rule does not match.",
  }),
  "cel-not-selectable": message<{ type: string; field: string }>({
    severity: "error",
    text: ({ type, field }) => `a value of type ${type} has no field "${field}"`,
    explanation: "Only maps, JSON objects and the gateway's variables have fields.",
  }),
  "cel-object-as-value": message<{ name: string }>({
    severity: "error",
    text: ({ name }) => `"${name}" cannot be used as a value`,
    hint: ({ name }) => `select one of its fields: \`${name}.…\``,
    explanation:
      "Variables such as request and source are views of the current request. Only their fields are values.",
  }),
  "cel-unknown-function": message<{
    name: string;
    suggestion: string | undefined;
    /** Hint about the CEL equivalent of a function in another language. */
    advice: string | undefined;
  }>({
    severity: "error",
    text: ({ name }) => `there is no function "${name}"`,
    hint: ({ suggestion, advice }) =>
      advice ?? didYouMean(suggestion) ?? "`gwc explain cel` lists all functions",
    explanation: "`gwc explain cel` lists the available functions and methods.",
  }),
  "cel-no-overload": message<{ call: string; candidates: string }>({
    severity: "error",
    text: ({ call }) => `no form of the function takes these types: ${call}`,
    hint: ({ call, candidates }) => {
      if (call === "string in string")
        return 'for a list use brackets: `name in ["a", "b"]`; for a substring: `text.contains("a")`';
      if (call.startsWith("!")) return "put the comparison in parentheses: `!(a == b)`";
      const isOfNumbers = /^(?:int|uint|double) [-+*/%] (?:int|uint|double)$/.test(call);
      return isOfNumbers
        ? "convert both numbers to the same type: `double(a) * 0.5`, `int(a) + 1`"
        : `available forms: ${candidates}`;
    },
    explanation:
      "The types of the arguments are known, and no overload of the function or operator accepts them. Convert with " +
      "string(), int(), uint(), double() or timestamp(). int and double can be compared but not added.",
  }),
  "cel-has-argument": message<Record<string, never>>({
    severity: "error",
    text: () => "has() requires a field selection",
    hint: () =>
      'write has(jwt.sub); for a key that is not an identifier, write `"x-key" in request.headers`',
    explanation:
      "has(a.b) tests whether `b` exists. It takes exactly one argument, which must end with `.name`.",
  }),
  "cel-macro-variable": message<{ macro: string }>({
    severity: "error",
    text: ({ macro }) => `${macro}() requires a plain name as its variable`,
    hint: ({ macro }) => `for example \`list.${macro}(item, …)\``,
    explanation:
      "The first argument of a macro (the first two in the two-variable forms) names the variable of its expression.",
  }),
  "cel-not-bool": message<{ type: string }>({
    severity: "error",
    text: ({ type }) => `this must be a bool, not ${type}`,
    hint: () => "compare it with something: `… == …`",
    explanation:
      "Rules, filters and conditions must be bool expressions. A rule of another type would never match.",
  }),
  "cel-wrong-result": message<{ expected: string; is: string }>({
    severity: "error",
    text: ({ expected, is }) => `this must be ${expected}, not ${is}`,
    explanation:
      "The field requires a result of another kind. This one would be ignored, or every request would be refused.",
  }),
  "cel-always": message<{ result: string }>({
    severity: "warning",
    text: ({ result }) => `this rule is ${result} for every request`,
    hint: ({ result }) => `correct it, or write \`${result}\` if that is intended`,
    explanation:
      "The value of the expression does not depend on the request. If that is intended, write `true` or `false`, which " +
      "are not reported.",
  }),
  "cel-never-denies": message<Record<string, never>>({
    severity: "error",
    text: () => "this deny rule can never deny",
    hint: () => "correct the rule, or remove it",
    explanation:
      "The expression is false for every request. A deny rule that never denies gives a false sense of protection, so " +
      "this is an error, not a warning.",
  }),
  "cel-denies-absent": message<{ name: string; test: string; negated: string; variable: string }>({
    severity: "warning",
    text: ({ name }) => `this also denies requests without ${name}`,
    hint: ({ test, negated }) =>
      `to allow them write \`${test} && …\`; to deny them explicitly write \`${negated} || …\``,
    explanation:
      "Reading a value that a request does not have is an error, and a deny rule with an error denies: `deny: " +
      'request.headers["x-test"] == "1"` denies every request without that header. Test with `has()` or `in` first.',
  }),
  "cel-host-without-port": message<{ host: string; pattern: string }>({
    severity: "warning",
    text: ({ host }) => `this does not match "${host}" with a port`,
    hint: ({ pattern }) => `use \`request.host.matches(${pattern})\` to match any port`,
    explanation:
      "`request.host` is the Host header of the client, including the port if there is one. `Host: a.example:8080` is " +
      'routed to the same listener as `Host: a.example`, and is not denied by `deny: request.host == "a.example"`. ' +
      "Hostnames of listeners and routes ignore the port, so they cannot be bypassed this way.",
  }),
  "cel-literal-star": message<{ instead: string }>({
    severity: "warning",
    text: () => "`*` is compared as a character: `==` and `!=` know no wildcards",
    hint: ({ instead }) => `write \`${instead}\``,
    explanation:
      'Equality compares whole strings: `request.path == "/api/*"` is true for a path that ends with a star. Use ' +
      "`startsWith`, `endsWith`, `contains`, or `matches` with a regular expression.",
  }),
  "cel-list-contains": message<{ name: string; instead: string }>({
    severity: "note",
    text: ({ name }) => `"contains" searches a string: it is an error if ${name} is a list`,
    hint: ({ instead }) => `for a list write \`${instead}\``,
    explanation:
      "The type of a claim is not known before a request. `contains` takes a string only. Identity providers usually " +
      "send roles and groups as lists: a rule with an error does not match, so an allow rule would allow nobody.",
  }),
  "cel-no-item": message<Record<string, never>>({
    severity: "error",
    text: () => "this cannot be true for any MCP item",
    hint: () =>
      "an item is a tool, a prompt or a resource: combine conditions on different kinds with `||`",
    explanation:
      "A rule is evaluated for one tool, prompt or resource at a time. A condition on another kind is false, so " +
      "conditions on two kinds combined with `&&` are never both true.",
  }),
  "cel-never-objects": message<Record<string, never>>({
    severity: "error",
    text: () => "this require rule has no effect: it is true for every item that it applies to",
    hint: () => "to refuse items of other kinds, write `deny: !has(mcp.tool)`",
    explanation:
      "A require rule applies to the kinds of MCP items for which it can be true, and ignores the others: `require: " +
      "has(mcp.tool)` requires every tool to be a tool.",
  }),
  "cel-too-many-cases": message<Record<string, never>>({
    severity: "error",
    text: () => "this rule has too many cases to analyze for each kind of MCP item",
    hint: () => "split it into several rules",
    explanation:
      "The effect of a rule on tools, prompts and resources is computed when the configuration is compiled. " +
      "Alternatives and bindings over fields of items multiply; the limit is ten thousand parts.",
  }),
  "cel-never-equal": message<{
    left: string;
    right: string;
    result: string;
    /** Field that was probably meant, if the value has fields: `mcp.tool.name`. */
    meant: string | undefined;
  }>({
    severity: "warning",
    text: ({ left, right, result }) =>
      `a value of type ${left} is never equal to one of type ${right}: this is always ${result}`,
    hint: ({ meant }) => didYouMean(meant),
    explanation:
      "Values of different types are not equal (numbers excepted: int, uint and double compare by value).",
  }),
  "cel-always-fails": message<{ problem: string }>({
    severity: "error",
    text: ({ problem }) => problem,
    explanation:
      "This part of the expression is constant, and evaluating it is an error: a division by zero, a number out of " +
      "range, or a string that is not a number, date or duration. It would fail for every request.",
  }),
  "cel-pattern": message<{ problem: string }>({
    severity: "error",
    text: ({ problem }) => `the regular expression is not valid: ${problem}`,
    hint: ({ problem }) =>
      problem === "missing argument to repetition operator"
        ? "a star repeats the preceding element: `.*` matches anything"
        : "patterns are RE2: no backreferences, no lookahead or lookbehind",
    explanation:
      "Regular expressions use RE2 syntax and match in linear time. RE2 has no backreferences, lookahead, lookbehind " +
      "or possessive quantifiers because they can make a match exponentially slow.",
  }),
  "cel-pattern-size": message<{ limit: number }>({
    severity: "error",
    text: ({ limit }) => `the regular expression is too large: more than ${limit} instructions`,
    hint: () => "use smaller repetition counts",
    explanation:
      "Counted repetitions multiply: `(a{1,100}){1,100}` has ten thousand steps. The size of a pattern is limited so " +
      "that its match time is limited.",
  }),
};
