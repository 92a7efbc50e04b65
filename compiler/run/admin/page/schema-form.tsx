import { useId, useState } from "preact/hooks";
import { visible } from "./format.ts";

/** A value of JSON. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonMembers;
/** The members of a JSON object. */
export interface JsonMembers {
  readonly [name: string]: JsonValue;
}

/** A part of a JSON Schema that forms read. Servers write schemas, so nothing of it is trusted. */
interface Schema {
  readonly type: string;
  readonly title: string;
  readonly description: string;
  readonly choices: readonly JsonValue[];
  readonly properties: readonly (readonly [string, unknown])[];
  readonly required: readonly string[];
  readonly items: unknown;
  readonly placeholder: string;
  readonly isLong: boolean;
}

/** Members that a form has fields for; others are written as JSON. */
const MAX_FIELDS = 40;
const MAX_DEPTH = 3;

/** Whether a form can be made from a schema. */
export function hasForm(schema: unknown): boolean {
  const { type, properties } = readSchema(schema, schema);
  return type === "object" && properties.length > 0 && properties.length <= MAX_FIELDS;
}

/** Returns the members that a form begins with: defaults, and required booleans. */
export function firstMembers(schema: unknown): JsonMembers {
  const { properties } = readSchema(schema, schema);
  const found = properties.slice(0, MAX_FIELDS).flatMap(([name, part]) => {
    const value = membersOf(part).default;
    return isJson(value) && value !== undefined ? [[name, value] as const] : [];
  });
  return objectOf(found);
}

/** Returns the names of required members without a value. */
export function missingMembers(schema: unknown, value: JsonMembers): readonly string[] {
  return readSchema(schema, schema).required.filter((name) => !Object.hasOwn(value, name));
}

interface FieldsProps {
  readonly root: unknown;
  readonly schema: unknown;
  readonly value: JsonMembers;
  readonly depth?: number;
  readonly onChange: (value: JsonMembers) => void;
}

/** Fields for the members of an object. */
export function SchemaFields({ root, schema, value, depth = 0, onChange }: FieldsProps) {
  const { properties, required } = readSchema(schema, root);
  if (properties.length === 0) return <p class="soft">It takes no arguments.</p>;
  return (
    <div class={depth === 0 ? "schema" : "schema nested"}>
      {properties.slice(0, MAX_FIELDS).map(([name, part]) => (
        <Field
          key={name}
          root={root}
          name={name}
          schema={part}
          isRequired={required.includes(name)}
          value={Object.hasOwn(value, name) ? value[name] : undefined}
          depth={depth}
          onChange={(next) => {
            const rest = Object.entries(value).filter(([each]) => each !== name);
            onChange(objectOf(next === undefined ? rest : [...rest, [name, next] as const]));
          }}
        />
      ))}
    </div>
  );
}

interface FieldProps {
  readonly root: unknown;
  readonly name: string;
  readonly schema: unknown;
  readonly isRequired: boolean;
  readonly value: JsonValue | undefined;
  readonly depth: number;
  /** `undefined` removes the member. */
  readonly onChange: (value: JsonValue | undefined) => void;
}

function Field({ root, name, schema: given, isRequired, value, depth, onChange }: FieldProps) {
  const schema = readSchema(given, root);
  const { type, choices, description, placeholder } = schema;
  const id = useId();
  const label = (
    <>
      <span class="label">
        {visible(name)} {isRequired && <small class="required">required</small>}
        <small>{visible(typeText(schema))}</small>
      </span>
      {description !== "" && <span class="help">{visible(description.slice(0, 600))}</span>}
    </>
  );
  if (choices.length > 0)
    return (
      <label class="field">
        {label}
        <select
          value={value === undefined ? "" : JSON.stringify(value)}
          onChange={({ currentTarget }) =>
            onChange(choices.find((each) => JSON.stringify(each) === currentTarget.value))
          }
        >
          <option value="">–</option>
          {choices.slice(0, 500).map((each) => (
            <option key={JSON.stringify(each)} value={JSON.stringify(each)}>
              {visible(typeof each === "string" ? each : JSON.stringify(each))}
            </option>
          ))}
        </select>
      </label>
    );
  if (type === "boolean")
    return (
      <div class="field check">
        <input
          id={id}
          type="checkbox"
          checked={value === true}
          onChange={({ currentTarget }) => onChange(currentTarget.checked)}
        />
        <label for={id}>{label}</label>
      </div>
    );
  if (type === "number" || type === "integer")
    return (
      <label class="field">
        {label}
        <input
          type="number"
          step={type === "integer" ? 1 : "any"}
          placeholder={visible(placeholder)}
          value={typeof value === "number" ? value : ""}
          onInput={({ currentTarget }) =>
            onChange(currentTarget.value === "" ? undefined : currentTarget.valueAsNumber)
          }
        />
      </label>
    );
  if (type === "object" && schema.properties.length > 0 && depth < MAX_DEPTH)
    return (
      <fieldset class="field group">
        <legend>{label}</legend>
        <SchemaFields
          root={root}
          schema={given}
          value={typeof value === "object" && value !== null && isMembers(value) ? value : {}}
          depth={depth + 1}
          onChange={onChange}
        />
      </fieldset>
    );
  if (type === "string")
    return (
      // biome-ignore lint/a11y/noLabelWithoutControl: one of both controls is in it.
      <label class="field">
        {label}
        {schema.isLong ? (
          <textarea
            rows={3}
            placeholder={visible(placeholder)}
            value={typeof value === "string" ? value : ""}
            onInput={({ currentTarget }) => onChange(emptied(currentTarget.value, isRequired))}
          />
        ) : (
          <input
            placeholder={visible(placeholder)}
            value={typeof value === "string" ? value : ""}
            onInput={({ currentTarget }) => onChange(emptied(currentTarget.value, isRequired))}
          />
        )}
      </label>
    );
  if (type === "array" && readSchema(schema.items, root).type === "string")
    return (
      <label class="field">
        {label}
        <textarea
          rows={3}
          placeholder="one a line"
          value={Array.isArray(value) ? value.join("\n") : ""}
          onInput={({ currentTarget: { value: text } }) =>
            onChange(text === "" ? undefined : text.split("\n"))
          }
        />
      </label>
    );
  return <JsonField label={label} value={value} onChange={onChange} />;
}

/** An empty text is a value only where one is required. */
function emptied(text: string, isRequired: boolean): string | undefined {
  return text === "" && !isRequired ? undefined : text;
}

function typeText({ type, items, choices }: Schema): string {
  if (choices.length > 0) return `one of ${choices.length}`;
  if (type === "array") return `list of ${membersOf(items).type ?? "values"}`;
  return type === "" ? "JSON" : type;
}

function JsonField({
  label,
  value,
  onChange,
}: {
  label: preact.ComponentChildren;
  value: JsonValue | undefined;
  onChange: (value: JsonValue | undefined) => void;
}) {
  const [text, setText] = useState(value === undefined ? "" : JSON.stringify(value));
  const isWrong = text.trim() !== "" && parsed(text) === undefined;
  return (
    <label class="field">
      {label}
      <textarea
        class="mono"
        rows={2}
        spellcheck={false}
        placeholder="JSON"
        aria-invalid={isWrong}
        value={text}
        onInput={({ currentTarget }) => {
          setText(currentTarget.value);
          onChange(parsed(currentTarget.value));
        }}
      />
      {isWrong && <span class="bad-text">This is not JSON.</span>}
    </label>
  );
}

/** Parses JSON; `undefined` if it is none. */
export function parsed(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether a value is an object, and no list. */
export function isMembers(value: unknown): value is JsonMembers {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isJson(value: unknown): value is JsonValue {
  return value !== undefined;
}

/** Returns an object whose names are data: `__proto__` is one like others. */
function objectOf(entries: readonly (readonly [string, JsonValue])[]): JsonMembers {
  return Object.fromEntries(entries);
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return isMembers(value) ? value : {};
}

function readSchema(given: unknown, root: unknown): Schema {
  const schema = membersOf(followed(given, root));
  const types = Array.isArray(schema.type) ? schema.type : [schema.type];
  const type = types.find((each) => typeof each === "string" && each !== "null") ?? "";
  const properties = Object.entries(membersOf(schema.properties));
  const required = Array.isArray(schema.required) ? schema.required : [];
  const choices = Array.isArray(schema.enum)
    ? schema.enum
    : isJson(schema.const)
      ? [schema.const]
      : [];
  const examples = Array.isArray(schema.examples) ? schema.examples : [];
  const shown = schema.default ?? examples[0];
  const length = typeof schema.maxLength === "number" ? schema.maxLength : 0;
  return {
    type: String(type === "" && properties.length > 0 ? "object" : type),
    title: textOf(schema.title),
    description: textOf(schema.description),
    choices,
    properties,
    required: required.filter((each) => typeof each === "string"),
    items: schema.items,
    placeholder: shown === undefined ? "" : String(shown).slice(0, 100),
    isLong: length > 200,
  };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Follows references within a schema, a few steps at most. */
function followed(given: unknown, root: unknown): unknown {
  let schema = given;
  for (let steps = 0; steps < 8; steps++) {
    const { $ref: reference } = membersOf(schema);
    if (typeof reference !== "string" || !reference.startsWith("#/")) return schema;
    let found: unknown = root;
    for (const step of reference.slice(2).split("/")) {
      const name = step.replaceAll("~1", "/").replaceAll("~0", "~");
      const members = membersOf(found);
      found = Object.hasOwn(members, name) ? members[name] : undefined;
    }
    schema = found;
  }
  return {};
}
