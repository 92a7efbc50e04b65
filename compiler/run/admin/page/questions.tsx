import { useState } from "preact/hooks";
import type { Question } from "./mcp-items.ts";
import { Card, Code, Text } from "./parts.tsx";
import { firstMembers, type JsonMembers, missingMembers, SchemaFields } from "./schema-form.tsx";

/** Response to a question (MCP `ElicitResult`). */
export type QuestionResponse =
  | { readonly action: "accept"; readonly content: JsonMembers }
  | { readonly action: "decline" };

/** What servers ask the client before they go on, as forms. */
export function Questions({
  questions,
  isBusy,
  onRespond,
}: {
  questions: readonly Question[];
  isBusy: boolean;
  onRespond: (responses: Readonly<Record<string, QuestionResponse>>) => void;
}) {
  const [values, setValues] = useState<Readonly<Record<string, JsonMembers>>>(() =>
    Object.fromEntries(questions.map(({ id, schema }) => [id, firstMembers(schema)])),
  );
  const given = (id: string) => (Object.hasOwn(values, id) ? values[id] : undefined) ?? {};
  const isMissing = questions.some(
    ({ id, schema }) => missingMembers(schema, given(id)).length > 0,
  );
  const respond = (responseTo: (question: Question) => QuestionResponse) =>
    onRespond(Object.fromEntries(questions.map((each) => [each.id, responseTo(each)])));
  return (
    <Card title="The server asks" note="the call waits for the response" class="questions">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          respond(({ id, schema }) =>
            schema === undefined ? { action: "decline" } : { action: "accept", content: given(id) },
          );
        }}
      >
        {questions.map(({ id, message, schema, method }) => (
          <fieldset key={id}>
            <legend>
              <Text>{message === "" ? id : message.slice(0, 2000)}</Text>
            </legend>
            {schema === undefined ? (
              <p class="soft">
                Only a program can respond to <Code>{method}</Code>: it is declined.
              </p>
            ) : (
              <SchemaFields
                root={schema}
                schema={schema}
                value={given(id)}
                onChange={(next) => setValues({ ...values, [id]: next })}
              />
            )}
          </fieldset>
        ))}
        <p class="buttons">
          <button type="submit" class="button primary" disabled={isBusy || isMissing}>
            Respond
          </button>
          <button
            type="button"
            class="button"
            disabled={isBusy}
            onClick={() => respond(() => ({ action: "decline" }))}
          >
            Decline
          </button>
        </p>
      </form>
    </Card>
  );
}
