import type { Origin } from "../../../compiler/diagnostics/diagnostic.ts";
import type { BackendNode } from "../../../compiler/ir/backends.ts";
import type { CompiledExpression } from "../../../compiler/model/expressions.ts";
import { code, comment, literal } from "../../code/code.ts";
import type { Expressions } from "../../code/expression.ts";
import { headerList } from "../../code/header-list.ts";
import type { Code, Name, Printable } from "../../code/hole.ts";
import { returned } from "../../code/layout.ts";
import { capitalized, imported, importedType, name } from "../../code/names.ts";
import type { Trace } from "../../code/trace.ts";
import { nonEmpty } from "../../code/units.ts";
import type { BackendScope } from "../backend.ts";
import { unhealthyFunction } from "../parts/health.ts";
import { askedInput } from "./asked-input.ts";
import { cacheCode, furtherCode } from "./cache.ts";
import { type ConditionNames, matchFunction, rulesFunction } from "./entry-conditions.ts";
import { promptGuardCode, type WebhookNode, webhookHeadersCode } from "./guards.ts";
import { modelCases } from "./model-cases.ts";
import { modelNaming } from "./model-naming.ts";
import type { AskedType } from "./route-types.ts";

const TRANSFORM = "gwc/runtime/llm/calls/transform-fields";
const REQUEST = importedType(TRANSFORM, "TransformedRequest");

type AiNode = BackendNode<"ai">;
type ProviderNode = AiNode["groups"][number][number];
type VirtualModel = AiNode["virtualModels"][number];
type TransformsNode = NonNullable<ProviderNode["transforms"]>;

/** A function or constant of the module, identified by its content. */
interface Declaration {
  readonly label: string;
  /** Returns its content for a provider; `undefined` if the provider needs none. */
  readonly says: (node: ProviderNode) => unknown;
  readonly origin: Origin;
  readonly make: (id: Name) => Code;
}

/** Functions of a route's module that providers share; equal ones are declared once. */
export class AiFunctions {
  readonly #providers: readonly ProviderNode[];
  readonly #trace: Trace;
  readonly #expressions: Expressions;
  /** Declarations by content. */
  readonly #known = new Map<string, Name>();
  readonly #taken: Set<string>;
  readonly #conditions = new Map<VirtualModel, Name>();
  readonly #entries = new Map<number, ConditionNames>();
  readonly #node: AiNode;
  readonly declarations: Code[] = [];

  constructor(node: AiNode, { trace, expressions, route }: BackendScope) {
    this.#node = node;
    this.#providers = node.groups.flat();
    this.#trace = trace;
    this.#expressions = expressions;
    this.#taken = new Set([route.id]);
  }

  /** Declares the function that detects a failure from the head of a response; `undefined` if the status decides. */
  isUnhealthy(node: ProviderNode): Name | undefined {
    const unhealthy = node.health?.unhealthy;
    if (unhealthy === undefined) return undefined;
    return this.#declare(node, {
      label: "isUnhealthy",
      says: ({ health }) => health?.unhealthy?.source,
      origin: unhealthy.origin,
      make: (id) => unhealthyFunction(id, unhealthy, this.#expressions),
    });
  }

  /** Declares the function that maps a model to its name at a provider; `undefined` if names are the same. */
  modelFor(node: ProviderNode): Name | undefined {
    const aliases = node.policies?.modelAliases;
    if (aliases === undefined) return undefined;
    return this.#declare(node, {
      label: "modelFor",
      says: ({ policies }) => policies?.modelAliases?.value,
      origin: aliases.origin,
      make: (id) => modelFunction(id, aliases.value),
    });
  }

  /** Declares the function that fits requests to known models; `undefined` if none of the provider's are known. */
  fitModel(node: ProviderNode): Name | undefined {
    const { traits, modelName, origin } = node;
    if (traits === undefined) return undefined;
    const nameOf = ([model]: readonly [string, unknown]): Printable =>
      modelName === undefined ? model : code`${modelNaming(modelName)}(${literal(model)})`;
    // Models of one family mostly have the same traits.
    const alike = Map.groupBy(Object.entries(traits), ([, each]) => JSON.stringify(each));
    const rows = [...alike.values()].flatMap(([first, ...others]): readonly Printable[] => {
      if (first === undefined) return [];
      const { efforts, ...same } = first[1];
      const names = others.length === 0 ? nameOf(first) : [first, ...others].map(nameOf);
      return [[names, { ...same, ...(efforts && { efforts: [...efforts] }) }]];
    });
    const fit = imported("gwc/runtime/llm/calls/fit-model", "fitModels");
    return this.#declare(node, {
      label: "fitModel",
      says: (each) => each.traits && [each.traits, each.modelName],
      origin,
      make: (id) => code`const ${id} = ${fit}(${literal(rows)});`,
    });
  }

  /**
   * Declares the changes of expressions to fields of requests, before guards see them; `undefined` if nothing changes.
   */
  transform({ edit: form }: AskedType, node: ProviderNode): Name | undefined {
    const { transforms, policies } = node;
    if (transforms === undefined || !form.takesFields) return undefined;
    const { origin } = transforms;
    const overrides = ({ policies: own }: ProviderNode) => own?.overrides?.value;
    const fieldsOf = ({ transforms: own }: ProviderNode) =>
      own?.fields.map(({ name: field, value }) => [field, value.source]);
    const fields = this.#declare(node, {
      label: "requestFields",
      says: fieldsOf,
      origin,
      make: (id) => this.#fieldsFunction(id, transforms),
    });
    const open = imported(TRANSFORM, "transformFields");
    return this.#declare(node, {
      label: "transformRequest",
      says: (each) => each.transforms && [fieldsOf(each), overrides(each)],
      origin: policies?.overrides?.origin ?? origin,
      make: (id) =>
        code`const ${id} = ${open}(${literal({ overrides: overrides(node), fields })});`,
    });
  }

  /** Declares the changes to translated bodies; `undefined` if nothing changes. */
  finish({ edit: form, isForm, translated }: AskedType, node: ProviderNode): Name | undefined {
    if (!form.takesFields || isForm === true) return undefined;
    const fixedOf = ({ chatFields }: ProviderNode) =>
      translated === "chat" && Object.keys(chatFields).length > 0 ? chatFields : undefined;
    const computedOf = ({ finalTransforms }: ProviderNode) =>
      finalTransforms?.fields.map(({ name: field, value }) => [field, value.source]);
    const { finalTransforms, origin } = node;
    const fixed = fixedOf(node);
    if (fixed === undefined && finalTransforms === undefined) return undefined;
    const fields =
      finalTransforms &&
      this.#declare(node, {
        label: "providerFields",
        says: computedOf,
        origin: finalTransforms.origin,
        make: (id) => this.#fieldsFunction(id, finalTransforms),
      });
    const open = imported("gwc/runtime/llm/calls/final-fields", "finalFields");
    return this.#declare(node, {
      label: "finishRequest",
      says: (each) => {
        const parts = [fixedOf(each), computedOf(each)];
        return parts.every((part) => part === undefined) ? undefined : parts;
      },
      origin: finalTransforms?.origin ?? origin,
      make: (id) => code`const ${id} = ${open}(${literal({ fixed, fields })});`,
    });
  }

  /** Declares the function that chooses a target of a conditional model, by its index. */
  condition(model: VirtualModel): Name {
    const known = this.#conditions.get(model);
    if (known !== undefined) return known;
    const id = this.#take(`placeOf${capitalized(model.id)}`);
    this.#conditions.set(model, id);
    this.declarations.push(code`
      ${this.#trace(model.origin)}
      ${this.#conditionFunction(id, model)}
    `);
    return id;
  }

  /** Declares the conditions of a group: functions that match requests, and that decide who may use it. */
  conditions(group: number): ConditionNames {
    const known = this.#entries.get(group);
    if (known !== undefined) return known;
    const { matches = [], rules = [], matchesAt, rulesAt } = this.#node.conditions[group] ?? {};
    const [first] = this.#node.groups[group] ?? [];
    const label = capitalized(first?.id ?? "model");
    const names = {
      matches: matches.length === 0 ? undefined : this.#take(`isFor${label}`),
      authorize: rules.length === 0 ? undefined : this.#take(`authorize${label}`),
    };
    this.#entries.set(group, names);
    if (names.matches !== undefined && matchesAt !== undefined)
      this.declarations.push(code`
        ${this.#trace(matchesAt.origin)}
        ${matchFunction(names.matches, matches, this.#expressions)}
      `);
    if (names.authorize !== undefined && rulesAt !== undefined) {
      const policy = rulesAt.origin;
      const options = { label: this.#free(`denied${label}`), policy, trace: this.#trace };
      this.declarations.push(code`
        ${this.#trace(policy)}
        ${rulesFunction(names.authorize, rules, this.#expressions, options)}
      `);
    }
    return names;
  }

  #conditionFunction(id: Name, { routing }: VirtualModel): Code {
    const targets = routing.kind === "conditional" ? routing.targets : [];
    const reads = targets.flatMap(({ when }) => when?.variables ?? []);
    const { input, declared } = askedInput(reads, REQUEST);
    const hasRest = targets.some(({ when }) => when === undefined);
    const statements = targets.map(({ when }, place) =>
      when === undefined
        ? code`return ${literal(place)};`
        : code`
            ${comment(when.source)}
            if (${this.#expressions.use(when.code)}) return ${literal(place)};
          `,
    );
    return code`
      function ${id}(${input}): number${hasRest ? code`` : code` | undefined`} {
        ${declared}
        ${statements}
        ${hasRest ? code`` : code`return undefined;`}
      }
    `;
  }

  #fieldsFunction(id: Name, { fields }: TransformsNode): Code {
    const { input, declared } = askedInput(
      fields.flatMap(({ value }) => value.variables),
      REQUEST,
    );
    return code`
      function ${id}(${input}): ${importedType(TRANSFORM, "TransformedField")}[] {
        ${declared}
        return ${headerList(fields, this.#expressions)};
      }
    `;
  }

  /** Declares the edits of a body that follow guards; `undefined` if nothing is edited. */
  prepare({ edit: form }: AskedType, node: ProviderNode): Name | undefined {
    const editsOf = ({ policies, transforms }: ProviderNode) => ({
      ...(form.takesFields && {
        // Expressions see overridden fields, so overrides are applied before them.
        overrides: transforms === undefined ? policies?.overrides : undefined,
        defaults: policies?.defaults,
      }),
      ...(form.prompts && { prompts: policies?.prompts }),
    });
    const { overrides, defaults, prompts } = editsOf(node);
    const origin = (overrides ?? defaults ?? prompts)?.origin;
    if (origin === undefined) return undefined;
    const edits: Readonly<Record<string, Printable | undefined>> = {
      overrides: overrides?.value,
      defaults: defaults?.value,
      prompts:
        form.prompts &&
        prompts &&
        code`${form.prompts}(${literal({
          prepend: nonEmpty(prompts.value.prepend.map((each) => ({ ...each }))),
          append: nonEmpty(prompts.value.append.map((each) => ({ ...each }))),
        })})`,
    };
    const edit = imported("gwc/runtime/llm/calls/edit-body", "editBody");
    return this.#declare(node, {
      label: form.name,
      says: (each) => {
        const parts = Object.values(editsOf(each)).map((part) => part?.value);
        return parts.every((part) => part === undefined) ? undefined : parts;
      },
      origin,
      make: (id) => code`const ${id} = ${edit}(${literal(edits)});`,
    });
  }

  /** Declares the guards of requests and responses; `undefined` without guards. */
  guard(node: ProviderNode): Name | undefined {
    const { guard } = node;
    if (guard === undefined) return undefined;
    return this.#declare(node, {
      label: "promptGuard",
      says: ({ guard: each }) => each && [each.request, each.response, each.hooks],
      origin: guard.origin,
      make: (id) =>
        promptGuardCode(id, guard, {
          expressions: this.#expressions,
          headersOf: (webhook) => this.#webhookHeaders(node, webhook, guard.origin),
        }),
    });
  }

  /** Declares the cache of responses; returns it with the providers that share it, or nothing without a cache. */
  cache(node: ProviderNode): Readonly<Record<string, Printable | undefined>> {
    const { cache } = node;
    if (cache === undefined) return {};
    const { scope, origin } = cache;
    const facts = ({ cache: each }: ProviderNode) =>
      each && [each.ttl, each.maxBytes, each.scope?.source, each.pool, each.similar];
    const id = this.#declare(node, {
      label: "responseCache",
      says: facts,
      origin,
      make: (own) => cacheCode(own, cache, scope && this.#scopeFunction(node, scope, origin)),
    });
    const group = this.#node.groups.find((each) => each.includes(node)) ?? [];
    const [first] = group;
    const further =
      cache.pool === undefined && cache.similar === undefined
        ? undefined
        : this.#declare(node, {
            label: "furtherResponses",
            says: facts,
            origin,
            make: (own) => furtherCode(own, cache, id),
          });
    return { cache: id, further, pool: group.length > 1 ? first?.name : undefined };
  }

  #scopeFunction(node: ProviderNode, scope: CompiledExpression, origin: Origin): Name {
    return this.#declare(node, {
      label: "cacheScope",
      says: ({ cache: each }) => each?.scope?.source,
      origin,
      make: (id) => {
        const { input, declared } = askedInput(scope.variables, REQUEST);
        return code`
          function ${id}(${input}): unknown {
            ${declared}
            ${comment(scope.source)}
            ${returned(this.#expressions.use(scope.code))}
          }
        `;
      },
    });
  }

  #webhookHeaders(node: ProviderNode, { headers }: WebhookNode, origin: Origin): Name | undefined {
    if (headers.length === 0) return undefined;
    return this.#declare(node, {
      label: "webhookHeaders",
      says: () => headers.map(({ name: header, value }) => [header, value.source]),
      origin,
      make: (id) => webhookHeadersCode(id, headers, this.#expressions),
    });
  }

  /**
   * Returns the name of a declaration; if providers differ, the first provider that has it is appended to the label.
   */
  #declare(node: ProviderNode, { label, says, origin, make }: Declaration): Name {
    const text = `${label} ${JSON.stringify(says(node))}`;
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    const differing = this.#providers.map((each) => JSON.stringify(says(each)));
    const kinds = new Set(differing.filter((each) => each !== undefined));
    const id = this.#take(kinds.size > 1 ? `${label}${capitalized(node.id)}` : label);
    this.#known.set(text, id);
    this.declarations.push(code`
      ${this.#trace(origin)}
      ${make(id)}
    `);
    return id;
  }

  #take(label: string): Name {
    return name(this.#free(label));
  }

  #free(label: string): string {
    let free = label;
    for (let count = 2; this.#taken.has(free); count++) free = `${label}${count}`;
    this.#taken.add(free);
    return free;
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
