import { useState } from "preact/hooks";
import type { KeysData, ProblemData } from "../api/admin-api.ts";
import type { PageProps } from "./app.tsx";
import { isProblem, messageOf, postJson, useData } from "./data.ts";
import { amount, dayAndTime, span, visible } from "./format.ts";
import { Icon } from "./icons.tsx";
import { type KeyForm, keyBody, NewKeyForm } from "./key-form.tsx";
import {
  Card,
  Code,
  CopyButton,
  Empty,
  Loading,
  PageHead,
  Pill,
  Problem,
  Table,
  Text,
} from "./parts.tsx";
import { isMembers, parsed } from "./schema-form.tsx";

type Key = KeysData["keys"][number];
type Action = "create" | "rotate" | "revoke";

/** API keys of the store: everybody who reaches the page may read them; changes need the key of the API for keys. */
export function KeysPage({ gateway }: PageProps) {
  const { data, problem, reload } = useData<KeysData | ProblemData>(
    gateway.has.keys ? "keys" : null,
    10_000,
  );
  const [credential, setCredential] = useState("");
  const [isCreating, setCreating] = useState(false);
  const [made, setMade] = useState<{ readonly name: string; readonly key: string }>();
  const [asked, setAsked] = useState<{ readonly name: string; readonly action: Action }>();
  const [failure, setFailure] = useState<string>();
  const act = async (action: Action, name: string, body: object): Promise<boolean> => {
    setFailure(undefined);
    setAsked(undefined);
    try {
      const sent = { action, name, credential, body: JSON.stringify(body) };
      const result = await postJson<{ status?: number; body?: string; problem?: string }>(
        "keys",
        sent,
      );
      const found = parsed(result.body ?? "");
      const members = isMembers(found) ? found : {};
      if (result.problem !== undefined || result.status === undefined || result.status >= 400) {
        const { error } = members;
        const said = isMembers(error) ? error.message : error;
        setFailure(result.problem ?? String(said ?? `status ${result.status}`));
        return false;
      }
      if (typeof members.key === "string") setMade({ name, key: members.key });
      reload();
      return true;
    } catch (error) {
      setFailure(messageOf(error));
      return false;
    }
  };
  const create = async (form: KeyForm) => {
    if (await act("create", form.name, keyBody(form))) setCreating(false);
  };
  const about =
    "Keys that were made while the gateway runs. The store has a hash of each key, never the key.";
  if (!gateway.has.keys)
    return (
      <>
        <PageHead title="API keys" about={about} />
        <Card>
          <Empty icon="keys" title="This gateway accepts no stored keys">
            Write <code>apiKey: {"{ store: true }"}</code>: see <code>gwc explain guide keys</code>.
          </Empty>
        </Card>
      </>
    );
  const canChange = gateway.has.keysApi;
  return (
    <>
      <PageHead title="API keys" about={about}>
        {canChange && (
          <button
            type="button"
            class="button primary"
            aria-expanded={isCreating}
            onClick={() => setCreating(!isCreating)}
          >
            <Icon name="plus" /> New key
          </button>
        )}
      </PageHead>
      {canChange ? (
        <Card class="slim">
          <label class="field inline-field">
            <span class="label">
              Key of the API for keys <small>needed for changes; it stays in this page</small>
            </span>
            <input
              type="password"
              autocomplete="off"
              value={credential}
              onInput={({ currentTarget }) => setCredential(currentTarget.value.trim())}
            />
          </label>
        </Card>
      ) : (
        <p class="soft">
          Use <code>gwc keys</code> to change them, or switch on <code>config.keysApi</code> to
          change them here.
        </p>
      )}
      {failure !== undefined && <Problem>{failure}</Problem>}
      {made !== undefined && (
        <Card class="made" title={`The key "${visible(made.name)}"`}>
          <p>Copy it now: it is shown only once.</p>
          <div class="command">
            <Code>{made.key}</Code>
            <CopyButton text={made.key} label="Copy the key" />
          </div>
          <p class="buttons">
            <button type="button" class="button" onClick={() => setMade(undefined)}>
              Done
            </button>
          </p>
        </Card>
      )}
      {isCreating && (
        <NewKeyForm isReady={credential !== ""} onCreate={(form) => void create(form)} />
      )}
      {problem !== undefined && <Problem>{problem}</Problem>}
      {data === undefined ? (
        problem === undefined && <Loading />
      ) : isProblem(data) ? (
        <Problem>{data.problem}</Problem>
      ) : (
        <KeyTable
          data={data}
          now={gateway.now}
          canChange={canChange && credential !== ""}
          asked={asked}
          onAsk={setAsked}
          onAct={(action, name) => void act(action, name, {})}
        />
      )}
    </>
  );
}

function KeyTable({
  data: { keys, findings },
  now,
  canChange,
  asked,
  onAsk,
  onAct,
}: {
  data: KeysData;
  now: number;
  canChange: boolean;
  asked: { readonly name: string; readonly action: Action } | undefined;
  onAsk: (asked: { readonly name: string; readonly action: Action } | undefined) => void;
  onAct: (action: Action, name: string) => void;
}) {
  return (
    <Card
      class="flush"
      title="Keys"
      note={findings.length === 0 ? amount(keys.length, "key") : findings.join(", ")}
    >
      {keys.length === 0 ? (
        <Empty icon="keys" title="No keys yet">
          <code>gwc keys create NAME</code> makes one.
        </Empty>
      ) : (
        <Table label="API keys">
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">Key</th>
              <th scope="col">Metadata</th>
              <th scope="col">Models</th>
              <th scope="col">Limits</th>
              <th scope="col">Expires</th>
              {canChange && <th scope="col">Change</th>}
            </tr>
          </thead>
          <tbody>
            {keys.map((key) => (
              <tr
                key={`${key.name} ${key.shown} ${key.created}`}
                class={key.isReplaced ? "replaced" : ""}
              >
                <th scope="row">
                  <Text>{key.name}</Text>
                  {key.isReplaced && <span class="sub soft">replaced</span>}
                </th>
                <td>
                  <Code>{`${key.shown}…`}</Code>
                </td>
                <td>
                  <Metadata text={key.metadata} />
                </td>
                <td>
                  <Text>{key.models === null ? "all" : key.models.join(", ")}</Text>
                </td>
                <td>
                  {key.limits.length === 0 ? <span class="soft">none</span> : key.limits.join(", ")}
                </td>
                <td>
                  <Expiry value={key} now={now} />
                </td>
                {canChange && (
                  <td class="nowrap">
                    {!key.isReplaced && (
                      <Actions name={key.name} asked={asked} onAsk={onAsk} onAct={onAct} />
                    )}
                  </td>
                )}
              </tr>
            ))}
          </tbody>
        </Table>
      )}
    </Card>
  );
}

function Metadata({ text }: { text: string }) {
  const found = parsed(text);
  if (!isMembers(found)) return <span class="soft">none</span>;
  return (
    <span class="chips">
      {Object.entries(found).map(([name, value]) => (
        <span key={name} class="chip">
          <Text>{`${name}=${typeof value === "string" ? value : JSON.stringify(value)}`}</Text>
        </span>
      ))}
    </span>
  );
}

function Expiry({ value: { expires }, now }: { value: Key; now: number }) {
  if (expires === null) return <Pill tone="warn">never</Pill>;
  const left = expires - now;
  return (
    <span title={dayAndTime(expires)}>
      <Pill tone={left < 7 * 86_400_000 ? "warn" : "plain"}>
        {left <= 0 ? "expired" : span(left)}
      </Pill>
    </span>
  );
}

function Actions({
  name,
  asked,
  onAsk,
  onAct,
}: {
  name: string;
  asked: { readonly name: string; readonly action: Action } | undefined;
  onAsk: (asked: { readonly name: string; readonly action: Action } | undefined) => void;
  onAct: (action: Action, name: string) => void;
}) {
  if (asked?.name === name)
    return (
      <>
        <button type="button" class="button danger" onClick={() => onAct(asked.action, name)}>
          {asked.action === "revoke" ? "Revoke" : "Rotate"} {visible(name)}
        </button>{" "}
        <button type="button" class="button" onClick={() => onAsk(undefined)}>
          Cancel
        </button>
      </>
    );
  return (
    <>
      <button
        type="button"
        class="link"
        aria-label={`Rotate ${visible(name)}`}
        onClick={() => onAsk({ name, action: "rotate" })}
      >
        Rotate
      </button>{" "}
      <button
        type="button"
        class="link"
        aria-label={`Revoke ${visible(name)}`}
        onClick={() => onAsk({ name, action: "revoke" })}
      >
        Revoke
      </button>
    </>
  );
}
