import { useState } from "preact/hooks";
import type { KeysData } from "../api/admin-api.ts";
import { visible } from "./format.ts";
import { Card } from "./parts.tsx";
import { isMembers, parsed } from "./schema-form.tsx";

type Key = KeysData["keys"][number];

/** Values of the form, as text. */
interface Edited {
  readonly metadata: string;
  readonly models: string;
  readonly limits: string;
  readonly expires: string;
}

const EXPIRY = /^\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d+)?Z)?$/;

function editedOf({ metadata, models, rules, expires }: Key): Edited {
  return {
    metadata: metadata === "" ? "{}" : metadata,
    models: models?.join(", ") ?? "",
    limits: rules,
    expires: expires === null ? "" : new Date(expires).toISOString(),
  };
}

/** Says what is wrong with a value; `undefined` if nothing is. */
function problemOf({ metadata, limits, expires }: Edited): string | undefined {
  if (!isMembers(parsed(metadata))) return "Metadata is a JSON object.";
  if (!Array.isArray(parsed(limits))) return "Limits are a JSON list.";
  if (expires !== "" && !EXPIRY.test(expires)) return "Write the expiry as 2027-01-31.";
  return undefined;
}

/** Returns the body of the request: the members that were changed. */
function changeOf(before: Edited, after: Edited): object {
  const patterns = after.models.split(",").map((each) => each.trim());
  const models = after.models.trim() === "" ? null : patterns;
  const expires = after.expires === "" ? null : new Date(after.expires).toISOString();
  return {
    ...(after.metadata !== before.metadata && { metadata: parsed(after.metadata) }),
    ...(after.models !== before.models && { models }),
    ...(after.limits !== before.limits && { limits: parsed(after.limits) }),
    ...(after.expires !== before.expires && { expires }),
  };
}

const FIELDS: readonly (readonly [keyof Edited, string, string])[] = [
  ["metadata", "Metadata", "a JSON object; rules read it as apiKey"],
  ["models", "Models", "fast, gpt-*; empty: all"],
  ["limits", "Limits", "a JSON list of counts, amount and period"],
  ["expires", "Expires", "such as 2027-01-31; empty: never"],
];

const LIMITS = '[{"counts":"cost","amount":50,"period":"month"}]';

/** A form that changes a key. The key itself stays the same. */
export function KeyEditor({
  value,
  onSave,
  onCancel,
}: {
  value: Key;
  onSave: (change: object) => void;
  onCancel: () => void;
}) {
  // What the table reads meanwhile must not replace what is typed.
  const [before] = useState(() => editedOf(value));
  const [form, setForm] = useState(before);
  const problem = problemOf(form);
  const change = problem === undefined ? changeOf(before, form) : {};
  return (
    <Card title={`Change the key "${visible(value.name)}"`} note="the key itself stays the same">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          onSave(change);
        }}
      >
        <div class="form-grid">
          {FIELDS.map(([name, label, hint]) => (
            <label key={name} class="field">
              <span class="label">
                {label} <small>{hint}</small>
              </span>
              <input
                class="mono"
                placeholder={name === "limits" ? LIMITS : ""}
                spellcheck={false}
                value={form[name]}
                onInput={({ currentTarget }) => setForm({ ...form, [name]: currentTarget.value })}
              />
            </label>
          ))}
        </div>
        <p class="buttons">
          <button
            type="submit"
            class="button primary"
            disabled={problem !== undefined || Object.keys(change).length === 0}
          >
            Save
          </button>
          <button type="button" class="button" onClick={onCancel}>
            Cancel
          </button>
          <span class="soft" role="status">
            {problem ?? ""}
          </span>
        </p>
      </form>
    </Card>
  );
}
