import { useState } from "preact/hooks";
import { Icon } from "./icons.tsx";
import { Card } from "./parts.tsx";

/** What a reader typed about a new key. */
export interface KeyForm {
  readonly name: string;
  readonly team: string;
  readonly models: string;
  readonly budget: string;
  readonly rate: string;
  readonly days: string;
}

const EMPTY: KeyForm = { name: "", team: "", models: "", budget: "", rate: "", days: "90" };

const FIELDS: readonly (readonly [keyof KeyForm, string, string, "text" | "decimal"])[] = [
  ["name", "Name", "unique, such as ci", "text"],
  ["team", "Team", "rules read it as apiKey.team", "text"],
  ["models", "Models", "fast, gpt-*; empty: all", "text"],
  ["budget", "Budget", "US dollars per month", "decimal"],
  ["rate", "Rate", "requests per minute", "decimal"],
  ["days", "Expires after", "days; empty: never", "decimal"],
];

/** Returns the body of the request that makes a key. */
export function keyBody({ name, team, models, budget, rate, days }: KeyForm): object {
  const patterns = models.split(",").map((each) => each.trim());
  const limits = [
    ...(budget === "" ? [] : [{ counts: "cost", amount: Number(budget), period: "month" }]),
    ...(rate === "" ? [] : [{ counts: "requests", amount: Number(rate), period: "minute" }]),
  ];
  return {
    name,
    ...(team !== "" && { metadata: { team } }),
    ...(models.trim() !== "" && { models: patterns }),
    ...(limits.length > 0 && { limits }),
    ...(days !== "" && { expires: new Date(Date.now() + Number(days) * 86_400_000).toISOString() }),
  };
}

/** A form for a new key. */
export function NewKeyForm({
  isReady,
  onCreate,
}: {
  isReady: boolean;
  onCreate: (form: KeyForm) => void;
}) {
  const [form, setForm] = useState(EMPTY);
  return (
    <Card title="New key">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          onCreate(form);
        }}
      >
        <div class="form-grid">
          {FIELDS.map(([name, label, hint, mode]) => (
            <label key={name} class="field">
              <span class="label">
                {label} <small>{hint}</small>
              </span>
              <input
                inputMode={mode}
                required={name === "name"}
                value={form[name]}
                onInput={({ currentTarget }) => setForm({ ...form, [name]: currentTarget.value })}
              />
            </label>
          ))}
        </div>
        <p class="buttons">
          <button type="submit" class="button primary" disabled={!isReady}>
            <Icon name="plus" /> Create
          </button>
          {!isReady && <span class="soft">Type the key of the API for keys first.</span>}
        </p>
      </form>
    </Card>
  );
}
