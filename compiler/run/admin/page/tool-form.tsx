import { useState } from "preact/hooks";
import { visible } from "./format.ts";
import { Icon } from "./icons.tsx";
import { Card, Segmented, Text } from "./parts.tsx";
import {
  hasForm,
  isMembers,
  type JsonMembers,
  missingMembers,
  parsed,
  SchemaFields,
} from "./schema-form.tsx";

/** A tool as its server lists it. */
export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly schema: unknown;
}

/** The arguments of a tool as a form made from its schema, or as JSON. */
export function ToolForm({
  tool,
  value,
  isBusy,
  onChange,
  onCall,
  onDecide,
}: {
  tool: Tool;
  value: JsonMembers;
  isBusy: boolean;
  onChange: (value: JsonMembers) => void;
  onCall: () => void;
  onDecide: () => void;
}) {
  const canForm = hasForm(tool.schema);
  const [mode, setMode] = useState<"form" | "json">(canForm ? "form" : "json");
  const [text, setText] = useState(JSON.stringify(value, undefined, 2));
  const missing = missingMembers(tool.schema, value);
  const isWrong = mode === "json" && !isMembers(parsed(text));
  return (
    <Card
      title={<Text>{tool.title === "" ? tool.name : tool.title}</Text>}
      note={tool.title === "" ? undefined : <Text>{tool.name}</Text>}
      actions={
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
      }
    >
      <p class="prose">
        <Text>{tool.description.slice(0, 2000)}</Text>
      </p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          onCall();
        }}
      >
        {mode === "form" ? (
          <SchemaFields root={tool.schema} schema={tool.schema} value={value} onChange={onChange} />
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
            <Icon name="play" /> Call tool
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
