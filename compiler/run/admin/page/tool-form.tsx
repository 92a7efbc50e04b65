import { useState } from "preact/hooks";
import { visible } from "./format.ts";
import { Icon } from "./icons.tsx";
import { type Item, type ItemKind, KINDS } from "./mcp-items.ts";
import { Card, Segmented, Text } from "./parts.tsx";
import {
  hasForm,
  isMembers,
  type JsonMembers,
  missingMembers,
  parsed,
  SchemaFields,
} from "./schema-form.tsx";

/** The arguments of a tool or prompt as a form made from its schema, or as JSON. A resource has none. */
export function ItemForm({
  kind,
  item,
  value,
  isBusy,
  onChange,
  onCall,
  onDecide,
}: {
  kind: ItemKind;
  item: Item;
  value: JsonMembers;
  isBusy: boolean;
  onChange: (value: JsonMembers) => void;
  onCall: () => void;
  onDecide: () => void;
}) {
  const canForm = hasForm(item.schema);
  const isPlain = kind === "resource";
  const [mode, setMode] = useState<"form" | "json">(canForm || isPlain ? "form" : "json");
  const [text, setText] = useState(JSON.stringify(value, undefined, 2));
  const missing = missingMembers(item.schema, value);
  const isWrong = mode === "json" && !isMembers(parsed(text));
  return (
    <Card
      title={<Text>{item.title === "" ? item.name : item.title}</Text>}
      note={item.title === "" ? undefined : <Text>{item.name}</Text>}
      actions={
        isPlain ? undefined : (
          <Segmented
            label="Arguments as"
            value={mode}
            options={[
              ["form", "Form"],
              ["json", "JSON"],
            ]}
            onChange={(next) => {
              if (next === "json") setText(JSON.stringify(value, undefined, 2));
              setMode(next === "form" && !canForm ? "json" : next);
            }}
          />
        )
      }
    >
      <p class="prose">
        <Text>{item.description.slice(0, 2000)}</Text>
      </p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          onCall();
        }}
      >
        {isPlain ? null : mode === "form" ? (
          <SchemaFields root={item.schema} schema={item.schema} value={value} onChange={onChange} />
        ) : (
          <label class="field">
            <span class="label">Arguments, as JSON</span>
            <textarea
              class="mono"
              rows={8}
              spellcheck={false}
              aria-invalid={isWrong}
              value={text}
              onInput={({ currentTarget }) => {
                setText(currentTarget.value);
                const next = parsed(currentTarget.value);
                if (isMembers(next)) onChange(next);
              }}
            />
            {isWrong && <span class="bad-text">Arguments are a JSON object.</span>}
          </label>
        )}
        <p class="buttons">
          <button type="submit" class="button primary" disabled={isBusy || isWrong}>
            <Icon name="play" /> {KINDS[kind].call}
          </button>
          <button type="button" class="button" disabled={isBusy} onClick={onDecide}>
            Decide only
          </button>
          {missing.length > 0 && <span class="soft">Required: {visible(missing.join(", "))}</span>}
        </p>
      </form>
    </Card>
  );
}
