import { didYouMean, message } from "./message.ts";

/** What other gateways call a client's address. */
const ADDRESS_WORDS = /^(?:ip|(?:client|remote|source|peer)_?(?:ip|addr|address))$/i;

/** Mistakes in CEL expressions. */
export const celMessages = {
  "cel-syntax": message<{ problem: string; advice: string | undefined }>({
    severity: "error",
    text: ({ problem }) => `the expression is not valid CEL: ${problem}`,
    hint: ({ advice }) => advice,
    explanation:
      "The text could not be read as a Common Expression Language expression. The marked place is where reading " +
      "stopped. Strings need quotes, `and` is written `&&`, equality is `==`.",
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
      "Parentheses, calls and operators nest at most 100 levels deep. A chain of the same operator counts once.",
  }),
  "cel-too-costly": message<{ limit: number }>({
    severity: "error",
    text: ({ limit }) =>
      `this constant may take more than ${limit} characters and items to evaluate`,
    hint: () => "write its value down, or repeat less",
    explanation:
      "Constant parts of an expression are evaluated when the configuration is compiled. Calls that grow their result, " +
      "such as a chain of `replace`, double the work with each one, so the work has a bound.",
  }),
  "cel-number-range": message<{ type: string }>({
    severity: "error",
    text: ({ type }) => `the number does not fit into ${type === "uint" ? "a uint" : "an int"}`,
    explanation:
      "An int has 64 bits with a sign (-9223372036854775808 to 9223372036854775807), a uint 64 bits without " +
      "(0u to 18446744073709551615u). Larger numbers are written as doubles: 1e20.",
  }),
  "cel-unknown-variable": message<{ name: string; known: string; suggestion: string | undefined }>({
    severity: "error",
    text: ({ name }) => `"${name}" is not a variable here`,
    hint: ({ name, suggestion, known }) =>
      didYouMean(suggestion) ?? `a text stands in quotes: "${name}"; variables here: ${known}`,
    explanation:
      "An expression may read the variables of the phase it runs in. A rule of a route knows the request and the " +
      "identities that the route's policies establish; only an MCP rule knows the tool.",
  }),
  "cel-dashed-field": message<{ name: string; owner: string | undefined }>({
    severity: "error",
    text: ({ name }) => `"${name}" is read as a difference: a name after a dot has no "-"`,
    hint: ({ name, owner = "…" }) => `write ${owner}["${name}"]`,
    explanation:
      "After a dot stands a name of letters, digits and `_`. `-` ends it, and subtracts what follows. A key of any other form " +
      'stands in brackets and quotes: `request.headers["x-user"]`.',
  }),
  "cel-wrong-phase": message<{ name: string; phase: string; phases: string }>({
    severity: "error",
    text: ({ name, phase }) => `"${name}" does not exist yet in ${phase}`,
    hint: ({ name, phases }) => {
      const use = `"${name}" can be used in ${phases}`;
      if (name !== "llm") return use;
      return `the model that a request asks for is json(request.body).model; ${use}`;
    },
    explanation:
      "Each expression is evaluated at one moment of a request. What happens later is not known then: a rule that " +
      "decides whether a request passes can't read its response. `gwc explain cel` lists the variables of each phase.",
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
      if (isOfClient) return "the client's address is `source.address`";
      return didYouMean(suggestion) ?? `fields of it: ${known}`;
    },
    explanation:
      "The fields of the gateway's own variables (request, source, mcp, ...) are known, so a misspelled one is found " +
      "when the configuration is compiled. Claims are not known in advance: a claim that is absent is an error of " +
      "the evaluation, and the rule does not match.",
  }),
  "cel-not-selectable": message<{ type: string; field: string }>({
    severity: "error",
    text: ({ type, field }) => `a value of type ${type} has no field "${field}"`,
    explanation: "Fields can be selected on maps, JSON objects and the gateway's variables only.",
  }),
  "cel-object-as-value": message<{ name: string }>({
    severity: "error",
    text: ({ name }) => `"${name}" is not a value by itself`,
    hint: ({ name }) => `select one of its fields: \`${name}.…\``,
    explanation:
      "Variables such as request and source are views of the running request. Their fields are values, they are not.",
  }),
  "cel-unknown-function": message<{
    name: string;
    suggestion: string | undefined;
    /** What CEL has for a function of another language. */
    advice: string | undefined;
  }>({
    severity: "error",
    text: ({ name }) => `there is no function "${name}"`,
    hint: ({ suggestion, advice }) =>
      advice ?? didYouMean(suggestion) ?? "`gwc explain cel` lists all functions",
    explanation: "Functions and methods are those of the reference that `gwc explain cel` prints.",
  }),
  "cel-no-overload": message<{ call: string; candidates: string }>({
    severity: "error",
    text: ({ call }) => `no form of the function takes these types: ${call}`,
    hint: ({ call, candidates }) => {
      if (call === "string in string")
        return 'a list stands in brackets: `name in ["a", "b"]`; a text in a text: `text.contains("a")`';
      if (call.startsWith("!")) return "what is compared stands in parentheses: `!(a == b)`";
      const isOfNumbers = /^(?:int|uint|double) [-+*/%] (?:int|uint|double)$/.test(call);
      return isOfNumbers
        ? "both numbers are of one type: `double(a) * 0.5`, `int(a) + 1`"
        : `it takes ${candidates}`;
    },
    explanation:
      "The arguments' types are known, and no form of the function or operator accepts them. Convert with string(), " +
      "int(), uint(), double() or timestamp(); int and double are compared with each other but not added.",
  }),
  "cel-has-argument": message<Record<string, never>>({
    severity: "error",
    text: () => "has() takes a field selection",
    hint: () => 'write has(jwt.sub); for a key that is no name, write `"x-key" in request.headers`',
    explanation:
      "has(a.b) asks whether `b` is there. It takes exactly one argument, and that ends with `.name`.",
  }),
  "cel-macro-variable": message<{ macro: string }>({
    severity: "error",
    text: ({ macro }) => `${macro}() takes a plain name as its variable`,
    hint: ({ macro }) => `for example \`list.${macro}(item, …)\``,
    explanation:
      "The first arguments of a macro (two, in the two-variable forms) name the variables that its expression uses.",
  }),
  "cel-not-bool": message<{ type: string }>({
    severity: "error",
    text: ({ type }) => `this must be true or false, and it is of type ${type}`,
    hint: () => "compare it with something: `… == …`",
    explanation:
      "Rules, filters and conditions are true or false. A rule of another type would never match, whatever the request.",
  }),
  "cel-wrong-result": message<{ expected: string; is: string }>({
    severity: "error",
    text: ({ expected, is }) => `this must be ${expected}, and it is ${is}`,
    explanation:
      "What an expression comes to is used as the field says. A result of another kind would be left out, or refuse each request.",
  }),
  "cel-always": message<{ result: string }>({
    severity: "warning",
    text: ({ result }) => `this rule is ${result} for every request`,
    hint: ({ result }) => `correct it, or write \`${result}\` if that is meant`,
    explanation:
      "The value of the expression does not depend on the request. If that is meant, write `true` or `false`, which " +
      "are not reported.",
  }),
  "cel-never-denies": message<Record<string, never>>({
    severity: "error",
    text: () => "this deny rule can never deny",
    hint: () => "correct the rule, or remove it",
    explanation:
      "The expression is false for every request. A deny rule that cannot deny gives a false sense of protection, so " +
      "it is an error, not a warning.",
  }),
  "cel-denies-absent": message<{ name: string; test: string; negated: string; variable: string }>({
    severity: "warning",
    text: ({ name }) => `this also denies whatever comes without ${name}`,
    hint: ({ test, negated }) =>
      `to let that pass write \`${test} && …\`; if it is meant, say so: \`${negated} || …\``,
    explanation:
      "Reading what a request does not have is an error, and a deny rule with an error denies: " +
      '`deny: request.headers["x-test"] == "1"` denies every request without that header. `has()` and `in` ask first.',
  }),
  "cel-host-without-port": message<{ host: string; pattern: string }>({
    severity: "warning",
    text: ({ host }) => `a request that names a port beside the host is not "${host}"`,
    hint: ({ pattern }) => `\`request.host.matches(${pattern})\` is the host with any port`,
    explanation:
      "`request.host` is what the client sent in Host, with its port if it named one. `Host: a.example:8080` comes to the " +
      "same listener as `Host: a.example`, and passes `deny: request.host == \"a.example\"`. A listener's or route's " +
      "hostname has no port: there it can't be passed by.",
  }),
  "cel-no-item": message<Record<string, never>>({
    severity: "error",
    text: () => "this can be true of no MCP item",
    hint: () =>
      "an item is a tool, a prompt or a resource: join conditions on different kinds with `||`",
    explanation:
      "A rule is asked about one tool, prompt or resource at a time. A condition on the name of another kind is false, " +
      "so conditions on two kinds that are joined with `&&` are never true together.",
  }),
  "cel-never-objects": message<Record<string, never>>({
    severity: "error",
    text: () => "this require rule never objects: it is true of every item that it is about",
    hint: () => "to refuse items of another kind, deny them: `deny: !has(mcp.tool)`",
    explanation:
      "A require rule is about the kinds of MCP items under which it can be true, and leaves the others alone: " +
      "`require: has(mcp.tool)` asks of every tool to be a tool.",
  }),
  "cel-too-many-cases": message<Record<string, never>>({
    severity: "error",
    text: () => "this rule has too many cases to tell what it says of each kind of MCP item",
    hint: () => "split it into several rules",
    explanation:
      "What a rule says of tools, of prompts and of resources is worked out when the configuration is compiled. Choices " +
      "and bindings over the fields of items multiply: a rule may come to ten thousand parts.",
  }),
  "cel-never-equal": message<{
    left: string;
    right: string;
    result: string;
    /** The field that was meant of a value that has fields: `mcp.tool.name`. */
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
      "range, text that is no number, date or duration. It would fail on every request.",
  }),
  "cel-pattern": message<{ problem: string }>({
    severity: "error",
    text: ({ problem }) => `the regular expression is not valid: ${problem}`,
    hint: ({ problem }) =>
      problem === "missing argument to repetition operator"
        ? "a star repeats what stands before it: `.*` is any text"
        : "patterns are RE2: no backreferences, no lookahead or lookbehind",
    explanation:
      "Regular expressions use the RE2 syntax and are matched in time linear to the text. Backreferences, lookahead, " +
      "lookbehind and possessive quantifiers do not exist in it, because they make a match exponentially slow.",
  }),
  "cel-pattern-size": message<{ limit: number }>({
    severity: "error",
    text: ({ limit }) => `the regular expression is too large: more than ${limit} instructions`,
    hint: () => "use smaller repetition counts",
    explanation:
      "Counted repetitions multiply: `(a{1,100}){1,100}` has ten thousand steps. A pattern has a bound on its size, so " +
      "that matching it has a bound on its time.",
  }),
};
