import type { Origin } from "../../../compiler/diagnostics/diagnostic.ts";
import type { BackendNode } from "../../../compiler/ir/backends.ts";
import { code, comment, join, literal } from "../../code/code.ts";
import type { Expressions } from "../../code/expression.ts";
import { headerList } from "../../code/header-list.ts";
import type { Code, Name, Printable } from "../../code/hole.ts";
import { returned } from "../../code/layout.ts";
import { logVariables } from "../../code/log-variables.ts";
import { imported, importedType, name } from "../../code/names.ts";
import type { Trace } from "../../code/trace.ts";
import { parameter } from "../../code/variables.ts";
import { promptGuardCode, type WebhookNode } from "./guards.ts";
import { modelCases } from "./model-cases.ts";
import type { AskedType } from "./route-types.ts";

const EXCHANGE = importedType("gwc/runtime/http/exchange", "Exchange");
const HEADER_VALUE = importedType(
  "gwc/runtime/policies/transformations/message-changes",
  "HeaderValue",
);

type ProviderNode = BackendNode<"ai">["groups"][number][number];

/** The functions of a route's module that providers share: each is declared once. */
export class AiFunctions {
  readonly #trace: Trace;
  readonly #expressions: Expressions;
  /** By what they say. */
  readonly #known = new Map<string, Name>();
  readonly declarations: Code[] = [];

  constructor(trace: Trace, expressions: Expressions) {
    this.#trace = trace;
    this.#expressions = expressions;
  }

  /** The function that tells a failure by the head of a response; undefined: the status does. */
  isUnhealthy({ unhealthy }: NonNullable<ProviderNode["health"]>): Name | undefined {
    if (unhealthy === undefined) return undefined;
    const { source, variables, code: emitted, origin } = unhealthy;
    return this.#declare(
      "isUnhealthy",
      source,
      origin,
      (id) => code`
        function ${id}(${join(variables.map(parameter), ", ")}): boolean {
          ${comment(source)}
          ${returned(this.#expressions.use(emitted))}
        }
      `,
    );
  }

  /** The function that gives a model its name at a provider; undefined: it has none of its own. */
  modelFor({ policies }: ProviderNode): Name | undefined {
    if (policies?.modelAliases === undefined) return undefined;
    const { value, origin } = policies.modelAliases;
    return this.#declare("modelFor", value, origin, (id) => modelFunction(id, value));
  }

  /** The edits of a body that come before everything else; undefined: there are none. */
  prepare({ edit: form }: AskedType, { policies }: ProviderNode): Name | undefined {
    const { overrides, defaults } = form.takesFields ? (policies ?? {}) : {};
    const prompts = form.prompts && policies?.prompts;
    const origin = (overrides ?? defaults ?? prompts)?.origin;
    if (origin === undefined) return undefined;
    const edits: Readonly<Record<string, Printable | undefined>> = {
      overrides: overrides?.value,
      defaults: defaults?.value,
      prompts:
        prompts &&
        code`${form.prompts}(${literal({
          prepend: prompts.value.prepend.map((each) => ({ ...each })),
          append: prompts.value.append.map((each) => ({ ...each })),
        })})`,
    };
    const key = [overrides?.value, defaults?.value, prompts?.value];
    const edit = imported("gwc/runtime/llm/calls/edit-body", "editBody");
    return this.#declare(
      form.name,
      key,
      origin,
      (id) => code`const ${id} = ${edit}(${literal(edits)});`,
    );
  }

  /** What guards requests and responses; undefined: nothing does. */
  guard({ guard }: ProviderNode): Name | undefined {
    if (guard === undefined) return undefined;
    const { origin, ...node } = guard;
    return this.#declare("promptGuard", node, origin, (id) =>
      promptGuardCode(id, guard, {
        expressions: this.#expressions,
        headersOf: (webhook) => this.#webhookHeaders(webhook, origin),
      }),
    );
  }

  #webhookHeaders({ headers }: WebhookNode, origin: Origin): Name | undefined {
    if (headers.length === 0) return undefined;
    const key = headers.map(({ name: header, value }) => [header, value.source]);
    const variables = [...new Set(headers.flatMap(({ value }) => value.variables))].sort();
    const parameters = variables.length === 0 ? code`` : code`request: ${EXCHANGE}`;
    return this.#declare(
      "webhookHeaders",
      key,
      origin,
      (id) => code`
        function ${id}(${parameters}): ${HEADER_VALUE}[] {
          ${logVariables(variables)}
          return ${headerList(headers, this.#expressions)};
        }
      `,
    );
  }

  #declare(label: string, key: unknown, origin: Origin, make: (id: Name) => Code): Name {
    const text = `${label} ${JSON.stringify(key)}`;
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    const count = [...this.#known.keys()].filter((each) => each.startsWith(`${label} `)).length;
    const id = name(count === 0 ? label : `${label}${count + 1}`);
    this.#known.set(text, id);
    this.declarations.push(code`
      ${this.#trace(origin)}
      ${make(id)}
    `);
    return id;
  }
}

function modelFunction(id: Name, aliases: Readonly<Record<string, string>>): Code {
  const cases = Object.entries(aliases).map(([pattern, model]) => ({
    pattern,
    statement: code`return ${literal(model)};`,
  }));
  return code`
    function ${id}(requested: string): string {
      ${modelCases(name("requested"), cases, false)}
      return requested;
    }
  `;
}
